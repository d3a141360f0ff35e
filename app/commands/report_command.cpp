#include "app/commands/commands.h"

#include <iostream>
#include <map>
#include <memory>

#include "app/experiment/run_directory.h"
#include "app/sweep/report.h"

namespace attn {
namespace {

const std::map<std::string, std::string> kFiles = {{"markdown", "report.md"},
                                                   {"csv", "rows.csv"},
                                                   {"runs", "runs.csv"},
                                                   {"curves", "curves.csv"},
                                                   {"latex", "table.tex"}};

struct ReportOptions {
  std::filesystem::path directory;
  std::string format = "markdown";
};

void report(const ReportOptions& options) {
  require_input(options.directory, {InputKind::run, InputKind::sweep_directory});
  std::cout << Report(options.directory).write(kFiles.at(options.format));
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Report a sweep, finished or not, or a run: tables, significance, curves");
  command->footer(
      "Prints the table, and writes it into the directory as report.md and, for LaTeX, table.tex;\n"
      "all numbers of rows, runs and learning curves are in rows.csv, runs.csv and curves.csv.\n"
      "./run report also draws the page report.html, with plots.\n"
      "Examples:\n"
      "  attn report runs/table3\n"
      "  attn report runs/table3 --format csv > table3.csv\n"
      "  attn report runs/tiny");
  command->add_option("directory", options->directory, "sweep or run directory")->required();
  command->add_option("--format", options->format, "output on stdout")
      ->check(CLI::IsMember({"markdown", "csv", "runs", "curves", "latex"}))
      ->capture_default_str();
  command->callback([options] { report(*options); });
}

}  // namespace attn
