// The report of a sweep as Markdown and as a self-contained HTML page.
#pragma once

#include <span>
#include <string>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons);

/// Tables, plots (learning curves; differences from the base vs. the paper's; metrics vs.
/// parameters and FLOPs) and provenance. No scripts, no external resources; light and dark, wide
/// and narrow.
std::string html_report(const SweepResults& results, std::span<const RowComparison> comparisons);

}  // namespace attn
