// Which options of a config may change when a run is resumed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"

namespace attn {

/// Paths of differences that change the updates, so that the run cannot be resumed with `now`.
std::vector<std::string> resume_conflicts(const Experiment& before, const Experiment& now);

/// Paths of differences that change the results of a finished run, including evaluation.
std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now);

/// For each config, the first one whose run with the same seed trains the same weights: itself,
/// unless an earlier one differs only in search, evaluation or the averaged checkpoints.
std::vector<size_t> first_equivalent_runs(std::span<const Experiment> configs);

/// Differences in "runtime", as text: "runtime.kernels is off, was auto".
std::vector<std::string> runtime_changes(const Experiment& before, const Experiment& now);

/// Throws ConfigError if the run's config, `before`, differs from `now` in an option that changes
/// the updates. Its tokenizers may differ before the first checkpoint.
void require_resumable(const std::filesystem::path& run, const Experiment& before,
                       const Experiment& now);

/// Throws ConfigError if the directory has a run that is not to be resumed.
void require_new_run(const std::filesystem::path& run);

/// Paths in which the config of a trained run differs from its sweep row: result_conflicts if the
/// run has finished, else resume_conflicts. Ignores the seed, and tokenizers that the row does not
/// set (the sweep fills them in).
std::vector<std::string> row_conflicts(const std::filesystem::path& run, Experiment row);

}  // namespace attn
