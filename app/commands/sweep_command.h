// attn sweep: trains the unfinished rows of a sweep and reports.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_sweep_command(CLI::App& app, Context& context);

}  // namespace attn
