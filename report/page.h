// A sweep's report for people: Markdown for a terminal or a repository, and one HTML page that
// stands on its own.
#pragma once

#include <span>
#include <string>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons);

/// Tables, plots (learning curves; differences from the base against the paper's; quality against
/// parameters and against FLOPs), and what it takes to get each result again. No script, nothing
/// fetched; light and dark, wide and narrow.
std::string html_report(const SweepResults& results, std::span<const RowComparison> comparisons);

}  // namespace attn
