// A sweep as a Slurm job array: one task per run.
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// The text in single quotes, as a shell's word.
std::string shell_quoted(const std::string& text);

/// The batch script. A task trains one run through `attn sweep SUBMISSION --task ROW/seed-1`
/// (app/sweep/submission.h); when the time limit is near, Slurm's SIGUSR1 makes the run save and
/// stop, and the task is queued again until its run has finished. SIGTERM, as scancel sends it,
/// makes the run save and stop for good. Throws ConfigError for a name that #SBATCH can't hold.
std::string slurm_script(const SweepPlan& plan, const std::string& sweep_arguments);

/// Writes SWEEP/slurm.sh, submits it with sbatch and returns sbatch's answer, or with
/// `submit == false` only writes it. Throws DataError when sbatch is missing or fails.
std::string submit_to_slurm(const SweepPlan& plan, const std::string& sweep_arguments, bool submit);

}  // namespace attn
