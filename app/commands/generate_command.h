// attn generate: writes the synthetic corpus.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_generate_command(CLI::App& app);

}  // namespace attn
