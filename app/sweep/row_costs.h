// What the rows of a sweep cost on this machine: some are measured within a budget of time, the
// others predicted from them and from FLOPs.
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
};

/// FLOPs of one update in closed form, over sentences of 25 tokens: to compare rows with.
double update_flops(const Experiment& experiment, int64_t vocabulary);

/// One row to predict from.
struct MeasuredCost {
  double update_flops = 0.0;  ///< as the function gives them
  StepBenchmark step;
};

/// A row's cost from those that were measured (at least one): the rate of matrix products and the
/// memory beside parameters are interpolated between the neighbours in FLOPs, in logarithms.
StepBenchmark predict_cost(double flops, int64_t parameters, std::span<const MeasuredCost> known);

/// Which row to measure next: the cheapest, then the first, then whichever is farthest in FLOPs
/// from all that are measured. Nothing when all are.
std::optional<size_t> next_to_measure(std::span<const double> flops,
                                      const std::vector<bool>& measured);

struct CostSearch {
  double budget = 0.0;  ///< seconds; 0: every row is measured
  /// Nothing for a row that failed, which is not predicted either.
  std::function<std::optional<StepBenchmark>(size_t)> measure;
  std::function<double()> seconds;  ///< since the beginning
};

/// Measures in the order of next_to_measure what is expected to fit into the budget, the first row
/// in any case, and predicts the others.
std::vector<std::optional<RowCost>> estimate_costs(std::span<const double> flops,
                                                   std::span<const int64_t> parameters,
                                                   const CostSearch& search);

}  // namespace attn
