// Order and duration of the runs of a sweep.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

/// FLOPs of a run's training in closed form, with sentences of 25 tokens, for comparing runs.
double run_flops(const PlannedRun& run);

/// Indices into plan.runs in the order in which they start. Seeds keep their order, so that an
/// interrupted sweep has the same seeds for every row; of one seed the longest run is the first, so
/// that no job is left with a long run at the end.
std::vector<size_t> start_order(const SweepPlan& plan);

/// Seconds until the last run ends, with `jobs` runs at a time, each started as soon as a job is
/// free. `running` are the remaining seconds of runs that have already started.
double makespan(std::span<const double> running, std::span<const double> waiting, int64_t jobs);

}  // namespace attn
