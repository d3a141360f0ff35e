// `attn bench step`: the speed of training.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

/// Adds `step` to the subcommand `bench`. Its callback measures and prints to stdout.
void add_bench_step_command(CLI::App& bench, const Context& context);

}  // namespace attn
