// The columns of a results table for the metrics: means, differences, tests, the paper's results.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"
#include "report/table.h"

namespace attn {

struct MetricColumn {
  Table::Column column;
  std::function<std::string(const RowRecord&, const RowComparison&)> cell;
};

/// The columns of all metrics with an evaluator: those for pages, with intervals and p-values where
/// some row has them, and those for CSV with all numbers in full precision. The functions do not
/// refer to the arguments.
std::vector<MetricColumn> metric_columns(const SweepResults& results,
                                         std::span<const RowComparison> comparisons);

}  // namespace attn
