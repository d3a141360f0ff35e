#include "app/sweep/report.h"

#include <iostream>

#include "app/sweep/results.h"
#include "base/error.h"
#include "base/file.h"
#include "report/page.h"
#include "report/table.h"

namespace attn {
namespace fs = std::filesystem;

SweepReport::SweepReport(const fs::path& sweep)
    : directory(sweep), results(collect_results(sweep)), comparisons(compare(results)) {}

std::string SweepReport::write() const {
  const std::string markdown = markdown_report(results, comparisons);
  try {
    write_file_atomically(directory / "report.md", markdown);
    write_file_atomically(directory / "report.html", html_report(results, comparisons));
    write_file_atomically(directory / "rows.csv", to_csv(results_table(results, comparisons)));
    write_file_atomically(directory / "runs.csv", to_csv(runs_table(results)));
  } catch (const DataError& error) {  // another user's results may be read-only
    std::cerr << error.what() << "; the report is only printed\n";
    return markdown;
  }
  std::cerr << "written: " << (directory / "report.html").string() << ", and report.md, rows.csv, "
            << "runs.csv beside it\n";
  return markdown;
}

}  // namespace attn
