// `attn score text`: several metrics in one call.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds `text` to the subcommand `score`. Its callback prints the scores on stdout; it throws
/// ConfigError for options that don't go together and DataError, naming file and line, for files
/// that can't be scored.
void add_score_text_command(CLI::App& score);

}  // namespace attn
