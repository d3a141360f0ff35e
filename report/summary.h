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
/// have the paper's sign or, without results in the paper, the minimum detectable difference. For
/// the first of metrics_by_interest and for perplexity. Sentences without content are omitted.
std::string report_summary(const SweepResults& results, std::span<const RowComparison> comparisons);

/// "failed", "unfinished", "omitted" or "not run" for a row without results; "" for others.
std::string missing_state(const RowRecord& row);

/// "51 of 60 runs finished: 2 failed, 3 unfinished, 4 not run.", also "1 omitted (see the notes)";
/// empty if all planned runs are finished.
std::string progress(const SweepResults& results);

}  // namespace attn
