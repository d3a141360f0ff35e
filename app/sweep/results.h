// Reads the results of a sweep.
#pragma once

#include <filesystem>

#include "report/results.h"

namespace attn {

/// Reads the plan (sweep.json) and the existing runs, finished or not. Omits, with a note, runs
/// whose config differs from their row or that have a damaged file, and results of runs whose texts
/// have changed (unless the texts of all runs have). Throws DataError if it is not a sweep
/// directory.
SweepResults collect_results(const std::filesystem::path& directory);

/// The same for a single run: one row with one run.
SweepResults collect_run_results(const std::filesystem::path& run);

}  // namespace attn
