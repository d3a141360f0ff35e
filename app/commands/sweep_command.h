// attn sweep: a base and its rows, trained as far as they were not before, and reported.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "app/machine/context.h"
#include "app/sweep/runner.h"

namespace attn {

/// This machine's device, threads and GPUs, shared by so many trainings at a time.
RunnerOptions runner_of_machine(const Context& context, int64_t jobs);

void add_sweep_command(CLI::App& app, Context& context);

}  // namespace attn
