// attn sweep: a base and its rows, trained as far as they were not before, and reported.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_sweep_command(CLI::App& app, Context& context);

}  // namespace attn
