// What the commands' options share, and the errors of a command line in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attn {

/// Adds --set, which takes one or several path=value.
CLI::Option* add_set(CLI::App* command, std::vector<std::string>& assignments,
                     const std::string& about = "override an option, path=value");

/// Accepts the numbers from `min` to `max`. Unlike CLI::Range it rejects nan, which is neither
/// below nor above a limit.
CLI::Validator number_from(double min, double max);

/// Parses the arguments and runs the command, or prints what --help or --version asks for. Throws
/// ConfigError naming the command: for an unknown command or flag with the nearest one, and for
/// values that CLI11 would misread, empty ones and integers with leading zeros or of more than 64
/// bits.
void run_command(CLI::App& app, std::vector<std::string> arguments);

}  // namespace attn
