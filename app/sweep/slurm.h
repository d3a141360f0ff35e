// A sweep as a Slurm job array: one task per run.
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// The batch script. A task trains one run through `attn sweep SUBMISSION --task ROW/seed-1`
/// (app/sweep/submission.h). Shortly before the time limit Slurm sends SIGUSR1: the run saves and
/// stops, and the task is requeued until its run has finished. On SIGTERM (scancel) the run saves
/// and stops without requeueing. Throws ConfigError for names that #SBATCH cannot represent.
std::string slurm_script(const SweepPlan& plan, const std::string& sweep_arguments);

/// Writes SWEEP/slurm.sh and, if `submit`, submits it with sbatch. Returns sbatch's output, or the
/// path of the script. Throws DataError if sbatch is missing or fails.
std::string submit_to_slurm(const SweepPlan& plan, const std::string& sweep_arguments, bool submit);

}  // namespace attn
