// attn train: an experiment from its config to its last checkpoint, or on from where it was
// interrupted.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_train_command(CLI::App& app, Context& context);

}  // namespace attn
