// `attn bench search`: the speed of beam search.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

/// Adds `search` to the subcommand `bench`. Its callback measures and prints to stdout.
void add_bench_search_command(CLI::App& bench, const Context& context);

}  // namespace attn
