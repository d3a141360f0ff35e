// Order and duration of the runs of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/sweep/plan.h"

namespace attn {

/// FLOPs of a run's training in closed form, with sentences of 25 tokens, for comparing runs.
double run_flops(const PlannedRun& run);

/// Indices into plan.runs in the order in which they start. Seeds keep their order, so that an
/// interrupted sweep has the same seeds for every row; within a seed, the longest run starts first
/// (LPT), which shortens the makespan.
std::vector<size_t> start_order(const SweepPlan& plan);

/// Seconds until the last run ends, with `jobs` runs at a time, each started as soon as a job is
/// free. `running` are the remaining seconds of runs that have already started.
double makespan(std::span<const double> running, std::span<const double> waiting, int64_t jobs);

/// A run, for the time that a sweep still needs.
struct RunWork {
  enum class Stage { waiting, running, finished, stopped };
  Stage stage = Stage::waiting;
  size_t row = 0;
  double flops = 0.0;    ///< FLOPs of the whole run
  double share = 0.0;    ///< share of its updates that are done, from 0 to 1
  double seconds = 0.0;  ///< time that these took, evaluations included
  bool earlier = false;  ///< trained before this command, possibly on another machine
};

/// Seconds until the last run ends, runs given in the order in which they start. A run takes as
/// long per FLOP as it has taken so far, else as the runs of its row trained by this command, else
/// as all of these, else as earlier runs. std::nullopt if nothing has been trained yet.
std::optional<double> seconds_left(std::span<const RunWork> runs, int64_t jobs);

}  // namespace attn
