// attn train: an experiment from its config to its last checkpoint, or on from where it was
// interrupted.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_train_command(CLI::App& app);

}  // namespace attn
