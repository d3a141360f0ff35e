// A sweep as a Slurm job array: one task per run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// The batch script. A task trains one run from the config that prepare_sweep wrote. Shortly before
/// the time limit Slurm sends SIGUSR1: the run saves and stops, and the task is requeued until its
/// run has finished. On SIGTERM (scancel) the run saves and stops without requeueing. `device` and
/// `threads` are passed on; std::nullopt: as many threads as Slurm gives the task cores.
std::string slurm_script(const SweepPlan& plan, const std::string& device,
                         std::optional<int> threads);

/// Writes SWEEP/slurm.sh and, if `submit`, submits it with sbatch. Returns sbatch's output, or the
/// path of the script. Throws DataError if sbatch is missing or fails.
std::string submit_to_slurm(const SweepPlan& plan, const std::string& device,
                            std::optional<int> threads, bool submit);

}  // namespace attn
