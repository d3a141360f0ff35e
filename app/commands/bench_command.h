// attn bench: what this machine makes of an experiment.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_bench_command(CLI::App& app);

}  // namespace attn
