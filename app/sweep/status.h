// Status of the runs of a sweep, from their directories and a collection: the small files of
// finished runs, with which a sweep continues on another machine.
//
//   COLLECTION/ROW/seed-1/     config.json, result.json, run.json, metrics.jsonl, log.txt, eval/
//   COLLECTION/vocabulary/     as in the sweep directory
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

/// The options, or the program, by which the run in a directory differs from its row's config and
/// change of the program.
std::vector<std::string> conflicts(const std::filesystem::path& directory,
                                   const Experiment& experiment, const std::string& change);

/// Sets PlannedRun::finished and changed, from the run's directory or, if it has not begun there,
/// from the collection (empty: none). Throws DataError for an invalid result.
void inspect_runs(SweepPlan& plan, const std::filesystem::path& collection = {});

/// Progress of a run, from its log.
struct RunProgress {
  int64_t step = 0;
  double ppl = 0.0;  ///< perplexity of the last validation; 0: none yet
};
RunProgress read_progress(const PlannedRun& run, const SweepMetrics& metrics);

/// After inspect_runs: throws ConfigError naming runs whose row has changed since they were
/// trained, or DataError naming runs whose data files have changed.
void check_unchanged(const SweepPlan& plan);

/// Copies the vocabularies and the finished runs of a collection into the sweep directory, without
/// replacing runs that have started: these are resumed instead. Returns the number of runs copied.
/// Throws ConfigError if a run of the collection was trained with a different config from that of
/// its row, and DataError if a file is damaged or cannot be copied.
int64_t take_collected(const SweepPlan& plan, const std::filesystem::path& collection);

/// Adds a finished run to the collection unless it is there, with its vocabularies; one
/// that was trained for fewer steps (train.steps) is replaced. Checkpoints, weights and caches are
/// not copied. Throws DataError.
void collect_run(const PlannedRun& run, const std::filesystem::path& collection);

}  // namespace attn
