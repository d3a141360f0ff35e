// attn bench: benchmarks of training, Table 1, search and matrix products.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_bench_command(CLI::App& app, const Context& context);

}  // namespace attn
