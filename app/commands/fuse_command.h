#pragma once

#include <CLI/CLI.hpp>

namespace attn {

/// attn fuse: the trees of highest expected F1 given the parses of several parsers.
void add_fuse_command(CLI::App& app);

}  // namespace attn
