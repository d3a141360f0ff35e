// From a sweep's directory to what a report needs.
#pragma once

#include <filesystem>

#include "report/results.h"

namespace attn {

/// Reads the plan (sweep.json) and whatever runs are there, finished or not; runs that were trained
/// under another config than their row has now are left out with a note, and those whose texts have
/// changed since are named in one; beside runs on the texts that are there now their figures are
/// left out. Throws DataError when the
/// directory holds no sweep.
SweepResults collect_results(const std::filesystem::path& directory);

/// The same of a single run: one row with its one run.
SweepResults collect_run_results(const std::filesystem::path& run);

}  // namespace attn
