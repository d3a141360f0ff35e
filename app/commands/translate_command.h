// attn translate: lines in, translations out.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_translate_command(CLI::App& app);

}  // namespace attn
