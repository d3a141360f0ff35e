// The report of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// Results and comparisons of a sweep.
struct SweepReport {
  explicit SweepReport(const std::filesystem::path& directory);

  /// Writes report.md, report.html, rows.csv and runs.csv into the sweep's directory; returns the
  /// Markdown.
  std::string write() const;

  std::filesystem::path directory;
  SweepResults results;
  std::vector<RowComparison> comparisons;
};

}  // namespace attn
