#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// attn agree: the trees on which several parses agree.
void add_agree_command(CLI::App& app);

}  // namespace attn
