// A sweep as a Slurm job array: one task a run.
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// The text in single quotes, as a shell's word.
std::string shell_quoted(const std::string& text);

/// The batch script. A task trains one run through `attn sweep FILE --task I`; when the time limit
/// is near, or the job is preempted, Slurm's SIGTERM makes the run save and stop, and the task is
/// queued again until its run has finished.
std::string slurm_script(const SweepPlan& plan, const std::string& sweep_arguments);

/// Writes SWEEP/slurm.sh, submits it with sbatch and returns sbatch's answer, or with
/// `submit == false` only writes it. Throws DataError when sbatch is absent or refuses.
std::string submit_to_slurm(const SweepPlan& plan, const std::string& sweep_arguments, bool submit);

}  // namespace attn
