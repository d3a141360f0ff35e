// attn logprob: forced decoding.
#pragma once

#include <CLI/CLI.hpp>

#include "app/machine/context.h"

namespace attn {

void add_logprob_command(CLI::App& app, const Context& context);

}  // namespace attn
