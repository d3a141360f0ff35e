// attn heads: what each attention head does, and the model without it.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_heads_command(CLI::App& app, const Context& context);

}  // namespace attn
