// attn eval: the evaluators of a run, again or with other settings.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_evaluate_command(CLI::App& app);

}  // namespace attn
