// `attn bench peak`: peak throughput of matrix products.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

/// Adds `peak` to the subcommand `bench`. Its callback measures and prints to stdout.
void add_bench_peak_command(CLI::App& bench, const Context& context);

}  // namespace attn
