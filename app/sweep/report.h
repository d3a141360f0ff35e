// The report of a sweep or of a single run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

/// Reads the plan (sweep.json) and the existing runs, finished or not. Omits, with a note, runs
/// whose config differs from their row or that have a damaged file. Throws DataError if it is not a
/// sweep directory.
SweepResults collect_results(const std::filesystem::path& directory);

/// The same for a single run: one row with one run.
SweepResults collect_run_results(const std::filesystem::path& run);

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
