// A collection: the small files of finished runs, with which a sweep continues on another machine.
//
//   COLLECTION/ROW/seed-1/     config.json, result.json, run.json, metrics.jsonl, log.txt, eval/
//   COLLECTION/vocabulary/     as in the sweep directory
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/sweep/plan.h"

namespace attn {

/// Copies the vocabularies and the finished runs of a collection into the sweep directory, without
/// replacing runs that have started: these are resumed instead. Returns the number of runs copied.
/// Throws ConfigError if a run of the collection was trained with a different config from that of
/// its row, and DataError if a file is damaged or cannot be copied.
int64_t take_collected(const SweepPlan& plan, const std::filesystem::path& collection);

/// The directory with the results of a planned run: its own, or one in the collection (which may be
/// empty: none); std::nullopt if the run is not finished, or was trained with a different config
/// from the row's current one. Throws DataError for an invalid result.
std::optional<std::filesystem::path> finished_run(const PlannedRun& run,
                                                  const std::filesystem::path& collection);

/// Adds a run to the collection if it is finished and not yet there, with its vocabularies; one
/// that was trained for fewer steps (train.steps) is replaced. Checkpoints, weights and caches are
/// not copied. Throws DataError.
void collect_run(const PlannedRun& run, const std::filesystem::path& collection);

}  // namespace attn
