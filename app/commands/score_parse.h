// `attn score parse`.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds `parse` to the subcommand `score`. Its callback prints the score on stdout and, on stderr,
/// the first sentences that could not be compared; it throws ConfigError for a bad parameter file
/// and DataError, naming file and line, for files that can't be scored.
void add_score_parse_command(CLI::App& score);

}  // namespace attn
