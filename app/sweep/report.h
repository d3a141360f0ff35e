// A sweep's report: its results read, its rows compared, its files written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// What a sweep came to, its rows compared.
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
