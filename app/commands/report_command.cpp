#include "app/commands/commands.h"

#include <iostream>
#include <memory>

#include "app/experiment/input_kind.h"
#include "app/sweep/report.h"
#include "app/sweep/run_report.h"
#include "report/page.h"
#include "report/table.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  fs::path sweep;
  std::string format = "markdown";
};

void report_run(const ReportOptions& options) {
  const RunReport report(options.sweep);
  const std::string markdown = report.write();
  if (options.format == "markdown") std::cout << markdown;
  if (options.format == "csv") std::cout << to_csv(evaluations_table(report.run));
  if (options.format == "runs") std::cout << to_csv(runs_table(report.run.results));
  if (options.format == "html") std::cout << html_report(report.run);
}

void report(const ReportOptions& options) {
  if (kind_of(options.sweep) == InputKind::run) return report_run(options);
  require_input(options.sweep, {InputKind::sweep_directory});
  const SweepReport report(options.sweep);
  const auto& [directory, results, comparisons] = report;
  const std::string markdown = report.write();
  if (options.format == "markdown") std::cout << markdown;
  if (options.format == "csv") std::cout << to_csv(results_table(results, comparisons));
  if (options.format == "runs") std::cout << to_csv(runs_table(results));
  if (options.format == "html") std::cout << html_report(results, comparisons);
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Report a sweep, finished or not, or a run: tables, significance, plots");
  command->footer(
      "Prints the table. For a sweep it writes report.md, report.html, rows.csv and runs.csv into "
      "the\n"
      "sweep directory; for a run, with scores, curves and cost, report.md, report.html and\n"
      "evaluations.csv into the run directory.\n"
      "Examples:\n"
      "  attn report runs/table3\n"
      "  attn report runs/table3 --format csv > table3.csv\n"
      "  attn report runs/tiny");
  command->add_option("sweep", options->sweep, "sweep or run directory")->required();
  command->add_option("--format", options->format, "output on stdout")
      ->check(CLI::IsMember({"markdown", "csv", "runs", "html"}))
      ->capture_default_str();
  command->callback([options] { report(*options); });
}

}  // namespace attn
