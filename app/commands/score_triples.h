// `attn score triples`.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds `triples` to the subcommand `score`, which writes source, output and reference together for
/// metrics that need all three, such as COMET. It throws DataError, naming file and line, for files
/// that don't match.
void add_score_triples_command(CLI::App& score);

}  // namespace attn
