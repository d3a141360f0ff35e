// The report of a single run: its scores, its curves, its cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/results.h"
#include "report/table.h"

namespace attn {

/// A value that an evaluator finds, over the run.
struct MetricCurve {
  std::string evaluator;  ///< "valid"
  std::string metric;     ///< "ppl"
  std::string title;      ///< "perplexity"; empty: not what the evaluator is there for
  bool lower_is_better = false;
  std::vector<std::pair<int64_t, double>> values;  ///< by step
};

struct SingleRun {
  SweepResults results;              ///< of one row with one run
  std::vector<CurvePoint> training;  ///< perplexity in training
  std::vector<MetricCurve> curves;
};

/// One line for each evaluator and metric: the last value and, of the main metric, the best one.
Table scores_table(const SingleRun& run);

/// All evaluations, one line a value: step, evaluator, metric, value.
Table evaluations_table(const SingleRun& run);

std::string markdown_report(const SingleRun& run);
std::string html_report(const SingleRun& run);

}  // namespace attn
