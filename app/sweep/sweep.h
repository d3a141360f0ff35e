// `attn sweep`: trains the runs of a sweep, prints a dry run, or submits a Slurm job array.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/machine/context.h"
#include "app/sweep/costs.h"
#include "app/sweep/plan.h"
#include "app/sweep/runner.h"

namespace attn {

struct SweepOptions {
  SweepRequest request;
  CostOptions cost;
  bool dry_run = false, no_measure = false;
  bool slurm = false, no_submit = false;
  int64_t jobs = 1;
  std::filesystem::path collection;  ///< take finished runs from it and add them to it
  std::string launcher;              ///< starts each run: "mpirun -np 2"
};

/// Runner options for this machine's device, threads and GPUs, shared by `jobs` runs.
RunnerOptions runner_of_machine(const Context& context, int64_t jobs);

/// Runs the command; returns the exit code. Throws ConfigError and DataError.
int sweep(const SweepOptions& options, const Context& context);

}  // namespace attn
