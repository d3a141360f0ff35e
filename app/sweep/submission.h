// Snapshot of a submitted sweep, so that Slurm tasks do not depend on later changes of the sweep
// file.
//
//   SWEEP/submitted/HASH/ROW/seed-1.json   the config of one run; never rewritten
//   SWEEP/submitted/HASH/texts.json        keys of its training text at that time
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// Saves the configs of a prepared plan. Returns the directory, which is named by the hash of its
/// content. Throws DataError.
std::filesystem::path write_submission(const SweepPlan& plan);

/// The run "ROW/seed-1" of a submission. Throws ConfigError if it does not exist or the row has
/// been trained with a different config since, and DataError if its training text has changed.
PlannedRun submitted_run(const std::filesystem::path& submission, const std::string& name);

}  // namespace attn
