// Summary of a sweep in two or three sentences.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// The metrics that have an evaluator: scores of outputs first, perplexity last.
std::vector<MetricFacts> metrics_by_interest(const SweepResults& results);

/// How many rows differ from the first one, with the best and the worst; and how many differences
/// have the paper's sign or, without figures of the paper, the smallest detectable difference. For
/// the first of metrics_by_interest and for perplexity. Sentences without content are omitted.
std::string answer(const SweepResults& results, std::span<const RowComparison> comparisons);

/// "failed", "unfinished" or "not run" for a row without results; "" for others.
std::string missing_state(const RowRecord& row);

/// "Of 60 runs, 2 have failed, 3 are unfinished."; empty if all rows are finished.
std::string progress(const SweepResults& results);

}  // namespace attn
