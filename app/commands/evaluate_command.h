// attn eval: runs the evaluators of a run.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_evaluate_command(CLI::App& app, const Context& context);

}  // namespace attn
