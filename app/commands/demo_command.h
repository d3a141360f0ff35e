// attn demo: from nothing to a BLEU score in a few minutes, on sentences that the project makes
// itself.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_demo_command(CLI::App& app, Context& context);

}  // namespace attn
