// attn translate: translates standard input.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_translate_command(CLI::App& app, const Context& context);

}  // namespace attn
