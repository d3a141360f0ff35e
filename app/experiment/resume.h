// What may change in a config while its run goes on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"

namespace attn {

/// Paths in which the two differ and that change what an update does, so that a run cannot go on
/// under the second config as if it had been trained under it from the start.
std::vector<std::string> resume_conflicts(const Experiment& before, const Experiment& now);

/// Paths in which the two differ and that change what a finished run's results mean: also what is
/// evaluated and how.
std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now);

/// What differs in "runtime", for a line of its own: "runtime.decoder is modules, was packed".
std::vector<std::string> runtime_changes(const Experiment& before, const Experiment& now);

/// Paths in which the config that the run in `run` was trained under differs from its sweep row's
/// now: as result_conflicts when it has finished, else as resume_conflicts. Vocabularies
/// that the row leaves open, and the sweep fills in, don't count, nor does the seed.
std::vector<std::string> row_conflicts(const std::filesystem::path& run, Experiment row);

}  // namespace attn
