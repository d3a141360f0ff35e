// `attn sweep` from its plan to its report.
#pragma once

#include <cstdint>
#include <string>

#include "app/machine/context.h"
#include "app/sweep/dry_run.h"
#include "app/sweep/plan.h"
#include "app/sweep/runner.h"

namespace attn {

struct SweepOptions {
  SweepRequest request;
  DryRunOptions cost;
  bool dry_run = false, no_measure = false;
  bool slurm = false, no_submit = false;
  int64_t jobs = 1;
  std::string task;  ///< train this run of a submitted sweep alone
};

/// This machine's device, threads and GPUs, shared by so many trainings at a time.
RunnerOptions runner_of_machine(const Context& context, int64_t jobs);

/// Does what the options ask for; returns the exit code. Throws ConfigError and DataError.
int sweep(const SweepOptions& options, const Context& context);

}  // namespace attn
