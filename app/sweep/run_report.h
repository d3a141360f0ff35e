// The report of a single run: reads its metrics and writes the report files.
#pragma once

#include <filesystem>
#include <string>

#include "report/run_page.h"

namespace attn {

struct RunReport {
  /// Throws ConfigError or DataError.
  explicit RunReport(const std::filesystem::path& directory);

  /// Writes report.md, report.html and evaluations.csv into the run; returns the Markdown.
  std::string write() const;

  std::filesystem::path directory;
  SingleRun run;
};

}  // namespace attn
