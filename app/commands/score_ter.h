// `attn score ter`.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds `ter` to the subcommand `score`. Its callback prints the score on stdout; it throws
/// DataError, naming file and line, for files that can't be scored.
void add_score_ter_command(CLI::App& score);

}  // namespace attn
