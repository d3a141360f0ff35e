// Costs of a sweep's rows, measured by training them for a few seconds in processes of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/plan.h"
#include "app/sweep/row_costs.h"

namespace attn {

struct CostOptions {
  double seconds = 3.0;   ///< seconds of measurement per row
  double budget = 120.0;  ///< seconds in total; rows beyond it are predicted. 0: measure every row
  std::string device = "auto";
  int64_t threads = 1;
  int64_t jobs = 1;  ///< copies of a row that are measured at a time, as many as will train
};

struct MeasuredCosts {
  /// By row of the plan; std::nullopt: not selected, or failed.
  std::vector<std::optional<RowCost>> rows;
  std::string failures;  ///< a line per row that failed
};

/// Measures the selected rows, until a stop signal (catch_stop_signals). Shows its progress.
MeasuredCosts measure_costs(const SweepPlan& plan, const CostOptions& options);

}  // namespace attn
