// `attn bench layers`: the time of each part of a Transformer.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

/// Adds `layers` to the subcommand `bench`. Its callback measures and prints to stdout.
void add_bench_layers_command(CLI::App& bench, const Context& context);

}  // namespace attn
