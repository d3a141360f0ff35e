// attn config: a config resolved, checked and explained.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_config_command(CLI::App& app);

}  // namespace attn
