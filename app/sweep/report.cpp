#include "app/sweep/report.h"

#include <iostream>

#include "app/experiment/run_directory.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_patch.h"
#include "report/tables.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

Json to_json(const Table& table) {
  Json json = {{"columns", Json::array()}, {"rows", table.rows}};
  for (const Table::Column& column : table.columns) {
    json["columns"].push_back(
        {{"key", column.key}, {"title", column.title}, {"text", column.text}});
  }
  return json;
}

// What the page has besides the CSV files: texts, the tables as printed, the options of rows.
Json description(const SweepResults& results, const std::vector<RowComparison>& comparisons) {
  Json json = {{"title", results.title},
               {"about", results.about},
               {"state", progress(results)},
               {"legend", legend(results, comparisons)},
               {"notes", results.notes},
               {"command", results.command},
               {"made", results.made},
               {"metrics", Json::array()},
               {"rows", Json::array()},
               {"results", to_json(results_table(results, comparisons))},
               {"cost", to_json(cost_table(results))}};
  if (results.single_run) {
    json["scores"] = to_json(scores_table(results.rows.front().runs.front()));
  }
  for (const MetricFacts& facts : kMetrics) {
    if (results.evaluators[facts.metric].empty()) continue;
    json["metrics"].push_back({{"key", facts.key},
                               {"title", facts.title},
                               {"lower_is_better", facts.lower_is_better},
                               {"evaluator", results.evaluators[facts.metric]}});
  }
  std::vector<std::string> all_changed;  // of which the first row has values, too
  for (const RowRecord& row : results.rows) {
    all_changed.insert(all_changed.end(), row.changed.begin(), row.changed.end());
  }
  for (const RowRecord& row : results.rows) {
    Json options = Json::object();
    for (const std::string& path : &row == &results.rows.front() ? all_changed : row.changed) {
      options[path] = option_value(row, path);
    }
    json["rows"].push_back({{"name", row.name},
                            {"about", row.about},
                            {"group", row.group},
                            {"baseline", results.rows[row.baseline].name},
                            {"change_label", row.change_label},
                            {"change", row.change},
                            {"options", options}});
  }
  return json;
}

}  // namespace

Report::Report(const fs::path& path)
    : directory(path), results(collect_results(path)), comparisons(compare(results)) {}

std::string Report::write() const {
  const std::string markdown = markdown_report(results, comparisons);
  const auto write = [&](const char* name, const std::string& text) {
    write_file_atomically(directory / name, text);
  };
  const auto replace = Json::error_handler_t::replace;  // notes may quote a file that is not UTF-8
  try {
    write("report.md", markdown);
    write("rows.csv", to_csv(rows_table(results, comparisons)));
    write("runs.csv", to_csv(runs_table(results)));
    write("curves.csv", to_csv(curves_table(results)));
    write("table.tex", to_latex(paper_table(results, comparisons)));
    write("report.json", description(results, comparisons).dump(1, ' ', false, replace) + "\n");
  } catch (const DataError& error) {  // another user's results may be read-only
    std::cerr << error.what() << "; the report is only printed\n";
    return markdown;
  }
  std::cerr << "written: " << (directory / "report.md").string()
            << ", and rows.csv, runs.csv, curves.csv, table.tex beside it\n";
  return markdown;
}

}  // namespace attn
