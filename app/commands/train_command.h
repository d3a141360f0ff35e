// attn train: trains or resumes a run.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_train_command(CLI::App& app, Context& context);

}  // namespace attn
