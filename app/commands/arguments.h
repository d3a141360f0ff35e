// The command line before CLI11 reads it: shorthands written out, misspelt words answered.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attn {

/// `--set a=1 b=2` as `--set a=1 --set b=2`, and `help train` as `train --help`.
std::vector<std::string> written_out(std::vector<std::string> arguments);

/// Throws ConfigError for a command or flag that `app` does not have: with the nearest one, or for
/// a flag that names an option of the config, with the --set for it.
void check_arguments(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace attn
