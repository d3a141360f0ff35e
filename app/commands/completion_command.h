// attn completion: shell completion scripts.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// Add after all other commands of `app`.
void add_completion_command(CLI::App& app);

}  // namespace attn
