// `attn score chrf`.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds `chrf` to the subcommand `score`. Its callback prints the score on stdout; it throws
/// ConfigError for options that are out of range and DataError, naming file and line, for files
/// that can't be scored.
void add_score_chrf_command(CLI::App& score);

}  // namespace attn
