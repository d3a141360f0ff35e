// Estimated costs of a sweep's rows: the first one is trained for some seconds, the others are
// scaled by their FLOPs. Order and duration of its runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/bench/step_cost.h"
#include "app/sweep/plan.h"
#include "model/size.h"

namespace attn {

/// FLOPs of one update in closed form, with sentences of 25 tokens, for comparing rows.
double update_flops(const Experiment& experiment, const VocabularySizes& sizes);

/// FLOPs of all evaluations of a run, in equivalents of training FLOPs, since their rate is lower
/// than that of large products: a perplexity costs two forward passes, a search one per hypothesis
/// of its beam. A missing text counts as `default_lines` lines.
double evaluation_flops(const Experiment& experiment, const VocabularySizes& sizes,
                        double tokens_per_line, int64_t default_lines);

/// What a run of a row costs.
struct RowCost {
  int64_t parameters = 0;
  double flops = 0.0;    ///< of the training
  double seconds = 0.0;  ///< training and evaluations
  double memory = 0.0;   ///< bytes
};

/// The cost of `row` from `base`, the measured step of `measured`: the same FLOP/s; memory that
/// depends on the batch grows with the square root of the FLOPs, as activations with the width.
/// A row of other data has data.vocab_size tokens.
RowCost scaled_cost(const Experiment& row, const Experiment& measured, const StepBenchmark& base);

struct CostOptions {
  double seconds = 3.0;  ///< of measurement
  std::string device = "auto";
  int64_t threads = 1;
  int64_t jobs = 1;  ///< runs that train at a time and share the threads
};

/// Trains the first selected row (`attn bench step`, in a process of its own). After a stop signal
/// (catch_stop_signals) the result has no meaning. Throws DataError with the last line of its
/// output if that fails.
StepBenchmark measure_first_row(const SweepPlan& plan, const CostOptions& options);

/// FLOPs of a run's training in closed form, with sentences of 25 tokens, for comparing runs.
double run_flops(const PlannedRun& run);

/// Indices into plan.runs in the order in which they start. Seeds keep their order, so that an
/// interrupted sweep has the same seeds for every row; within a seed, the longest run starts first
/// (LPT), which shortens the makespan.
std::vector<size_t> start_order(const SweepPlan& plan);

/// Seconds until the last run ends, with `jobs` runs at a time, each started as soon as a job is
/// free. `running` are the remaining seconds of runs that have already started.
double makespan(std::span<const double> running, std::span<const double> waiting, int64_t jobs);

}  // namespace attn
