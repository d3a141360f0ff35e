// attn config: prints a resolved config, or explains the options.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_config_command(CLI::App& app);

}  // namespace attn
