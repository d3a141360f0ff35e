// `attn score`: metrics on files, without a model.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Adds the subcommand `score` with a subcommand for each metric.
void add_score_command(CLI::App& app);

}  // namespace attn
