// `attn score bleu`.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds `bleu` to the subcommand `score`. Its callback prints the score on stdout; it throws
/// ConfigError for options that don't go together and DataError, naming file and line, for files
/// that can't be scored.
void add_score_bleu_command(CLI::App& score);

}  // namespace attn
