// Cost of a sweep's rows on this machine: some rows are measured within a time budget, the others
// are predicted from these and their FLOPs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "app/bench/step_cost.h"
#include "app/experiment/experiment.h"

namespace attn {

struct RowCost {
  StepBenchmark step;
  bool predicted = false;
  double evaluation_seconds = 0.0;  ///< all evaluations of a run

  /// Training and evaluations of a run of `steps` updates.
  double run_seconds(int64_t steps) const {
    return static_cast<double>(steps) * step.seconds_per_update + evaluation_seconds;
  }
};

/// FLOPs of all evaluations of a run, in equivalents of training FLOPs, since their rate is lower
/// than that of large products: a perplexity costs two forward passes, a search one per hypothesis
/// of its beam. A missing text counts as `default_lines` lines.
double evaluation_flops(const Experiment& experiment, int64_t vocabulary, double tokens_per_line,
                        int64_t default_lines);

/// FLOPs of one update in closed form, with sentences of 25 tokens, for comparing rows.
double update_flops(const Experiment& experiment, int64_t vocabulary);

/// A measured row.
struct MeasuredCost {
  double update_flops = 0.0;  ///< update_flops() of the row
  StepBenchmark step;
};

/// What a row keeps in memory whatever its batches.
struct RowSize {
  int64_t parameters = 0;
  int64_t bytes_per_parameter = 0;  ///< TrainConfig::bytes_per_parameter
};

/// Predicts a row's cost from the measured rows (at least one): FLOP/s and the memory that depends
/// on the batch are interpolated log-log between the neighbours in FLOPs.
StepBenchmark predict_cost(double flops, const RowSize& size, std::span<const MeasuredCost> known);

/// The row to measure next: first the cheapest one, then the first one, then the one farthest in
/// FLOPs from all measured rows. std::nullopt when all are measured.
std::optional<size_t> next_to_measure(std::span<const double> flops,
                                      const std::vector<bool>& measured);

struct CostSearch {
  double budget = 0.0;  ///< seconds; 0: measure every row
  /// Returns std::nullopt if the row failed; it is then not predicted, either.
  std::function<std::optional<StepBenchmark>(size_t)> measure;
  std::function<double()> seconds;  ///< seconds since the start
};

/// Measures rows in the order of next_to_measure as long as they are expected to fit into the
/// budget (at least one row), and predicts the others.
std::vector<std::optional<RowCost>> estimate_costs(std::span<const double> flops,
                                                   std::span<const RowSize> sizes,
                                                   const CostSearch& search);

/// Recomputes the parameters of predicted rows, and the memory that they take, with the
/// vocabularies of a measured row: one with the same data, else one with the same task and
/// tokenizer; a row without either keeps data.vocab_size. `rows` and `costs` have the same length.
void correct_parameters(std::span<const Experiment* const> rows,
                        std::span<std::optional<RowCost>> costs);

}  // namespace attn
