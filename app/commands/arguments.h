// Preprocesses the command line for CLI11: expands shorthands and reports misspelt words; checks
// numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attn {

/// Expands `--set a=1 b=2` to `--set a=1 --set b=2`, and `help train` to `train --help`.
std::vector<std::string> expand_shorthands(std::vector<std::string> arguments);

/// Throws ConfigError for an unknown command or flag, suggesting the nearest one, or --set if the
/// flag is the name of a config option, and for values that CLI11 would misread: empty ones, and
/// integers with leading zeros or of more than 64 bits.
void check_arguments(const CLI::App& app, const std::vector<std::string>& arguments);

/// Accepts the numbers from `min` to `max`. Unlike CLI::Range it rejects nan, which is neither
/// below nor above a limit.
CLI::Validator number_from(double min, double max);

}  // namespace attn
