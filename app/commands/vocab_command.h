// attn vocab: lists a vocabulary or tokenizes text.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_vocab_command(CLI::App& app);

}  // namespace attn
