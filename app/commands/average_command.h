// attn average: checkpoint averaging (section 6.1).
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_average_command(CLI::App& app);

}  // namespace attn
