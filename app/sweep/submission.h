// A sweep as it was submitted: what the tasks of a Slurm array train, whatever becomes of the
// sweep's file while they wait.
//
//   SWEEP/submitted/HASH/ROW/seed-1.json   the config of one run; never rewritten
//   SWEEP/submitted/HASH/texts.json        keys of its training text at that time
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// Keeps the runs of a prepared plan; returns the folder, which is named by its content. Throws
/// DataError.
std::filesystem::path write_submission(const SweepPlan& plan);

/// The run called "ROW/seed-1" of such a folder. Throws ConfigError when there is none, or the row
/// was trained under another config meanwhile, and DataError when its training text has changed
/// since it was submitted.
PlannedRun submitted_run(const std::filesystem::path& submission, const std::string& name);

}  // namespace attn
