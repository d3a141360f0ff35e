// The report of a sweep or of a single run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// Results and comparisons of a sweep, or of a run.
struct Report {
  /// Throws ConfigError or DataError.
  explicit Report(const std::filesystem::path& directory);

  /// Writes report.md, rows.csv, runs.csv, curves.csv, table.tex and report.json, from which
  /// tools/report draws the page, into the directory; returns the Markdown.
  std::string write() const;

  std::filesystem::path directory;
  SweepResults results;
  std::vector<RowComparison> comparisons;
};

}  // namespace attn
