// Which options of a config may change when a run is resumed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"

namespace attn {

/// Differences that change the updates, so that the run cannot be resumed with the second config.
std::vector<std::string> resume_conflicts(const Experiment& before, const Experiment& now);

/// Differences that change the results of a finished run, including evaluation.
std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now);

/// Differences in "runtime", as text: "runtime.decoder is modules, was packed".
std::vector<std::string> runtime_changes(const Experiment& before, const Experiment& now);

/// Paths in which the config that the run in `run` was trained under differs from its sweep row's
/// now: as result_conflicts when it has finished, else as resume_conflicts. Vocabularies
/// that the row leaves open, and the sweep fills in, don't count, nor does the seed.
std::vector<std::string> row_conflicts(const std::filesystem::path& run, Experiment row);

}  // namespace attn
