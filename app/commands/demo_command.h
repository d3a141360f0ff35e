// attn demo: training, search and evaluation in a few minutes, on synthetic data.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_demo_command(CLI::App& app, Context& context);

}  // namespace attn
