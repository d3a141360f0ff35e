// `attn score`: metrics on files, without a model.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds the subcommand `score` with `bleu` under it. Its callback prints the score on stdout; it
/// throws ConfigError for options that don't go together and DataError, naming file and line, for
/// files that can't be scored.
void add_score_command(CLI::App& app);

}  // namespace attn
