// attn attention: the attention weights of a model as a page and as JSON.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_attention_command(CLI::App& app, const Context& context);

}  // namespace attn
