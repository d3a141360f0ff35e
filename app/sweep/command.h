// attn sweep: a base and its rows, trained one after the other, survived by anything, reported.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_sweep_command(CLI::App& app);

}  // namespace attn
