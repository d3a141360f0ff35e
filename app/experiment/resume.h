// Which options of a config may change when a run is resumed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"

namespace attn {

/// Paths of differences that change the updates, so that the run cannot be resumed with `now`.
std::vector<std::string> resume_conflicts(const Experiment& before, const Experiment& now);

/// Paths of differences that change the results of a finished run, including evaluation.
std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now);

/// Differences in "runtime", as text: "runtime.decoder is modules, was packed".
std::vector<std::string> runtime_changes(const Experiment& before, const Experiment& now);

/// Paths in which the config of a trained run differs from its sweep row: result_conflicts if the
/// run has finished, else resume_conflicts. Ignores the seed, and tokenizers that the row does not
/// set (the sweep fills them in).
std::vector<std::string> row_conflicts(const std::filesystem::path& run, Experiment row);

}  // namespace attn
