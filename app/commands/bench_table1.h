// `attn bench table1`: the paper's Table 1, formulas and times.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

/// Adds `table1` to the subcommand `bench`. Its callback measures and prints to stdout.
void add_bench_table1_command(CLI::App& bench, const Context& context);

}  // namespace attn
