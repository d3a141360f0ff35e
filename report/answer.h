// What a sweep has found, in two sentences.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// The metrics that have an evaluator: scores of outputs first, perplexity last.
std::vector<MetricFacts> metrics_by_interest(const SweepResults& results);

/// How many rows differ from the first one, with the best and the worst; and how many of the
/// paper's signs hold, or, without figures of the paper, how small a difference would be found. For
/// the first of metrics_by_interest and for perplexity. Fewer sentences where there is nothing to
/// say.
std::string answer(const SweepResults& results, std::span<const RowComparison> comparisons);

/// "failed", "unfinished" or "not run" for a row without results; "" for others.
std::string missing_state(const RowRecord& row);

/// "2 of 60 runs have failed, 3 are unfinished."; empty if all rows are finished.
std::string progress(const SweepResults& results);

}  // namespace attn
