// attn export: a trained model in the format of another program.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_export_command(CLI::App& app);

}  // namespace attn
