// The report of a single run: scores, curves and cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/results.h"
#include "report/table.h"

namespace attn {

/// One metric of an evaluator over the course of a run, of its checkpoints or of their average.
struct MetricCurve {
  std::string evaluator;  ///< "valid"
  std::string weights;    ///< "checkpoint", or "average" (train.average_last)
  std::string metric;     ///< "ppl"
  std::string title;      ///< "perplexity"; empty: not the evaluator's main metric
  bool lower_is_better = false;
  std::vector<std::pair<int64_t, double>> values;  ///< by step
};

struct SingleRun {
  SweepResults results;              ///< one row with one run
  std::vector<CurvePoint> training;  ///< training perplexity
  std::vector<MetricCurve> curves;
};

/// One line per evaluator, weights and metric: the last value and, for the main metric, the best
/// one.
Table scores_table(const SingleRun& run);

/// All evaluations, one line per value: step, evaluator, weights, metric, value.
Table evaluations_table(const SingleRun& run);

std::string markdown_report(const SingleRun& run);
std::string html_report(const SingleRun& run);

}  // namespace attn
