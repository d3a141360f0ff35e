// The report of a sweep as Markdown and as a self-contained HTML page.
#pragma once

#include <span>
#include <string>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons);

/// The summary in two or three sentences, the differences from the baselines as a forest plot, the
/// table, learning curves, metrics against numeric options and against training FLOPs, cost and
/// provenance. No scripts, no external resources; light and dark, wide and narrow, printable.
std::string html_report(const SweepResults& results, std::span<const RowComparison> comparisons);

}  // namespace attn
