// attn parse: sentences in, trees out.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_parse_command(CLI::App& app);

}  // namespace attn
