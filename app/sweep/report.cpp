#include "app/sweep/report.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "app/machine/processes.h"
#include "app/machine/version.h"
#include "app/sweep/plan.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_patch.h"
#include "base/parse_number.h"
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
                            {"change_label", row.change.label()},
                            {"change", row.change.record},
                            {"options", options}});
  }
  return json;
}

// The run directories of a row, by their seeds.
std::multimap<int64_t, fs::path> runs_of(const fs::path& row) {
  std::multimap<int64_t, fs::path> runs;
  if (!fs::is_directory(row)) return runs;
  for (const auto& entry : fs::directory_iterator(row)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("seed-") || !RunDirectory(entry.path()).has_config()) continue;
    const auto seed = parse_number<int64_t>(name.substr(5));
    if (seed && *seed >= 0) runs.emplace(*seed, entry.path());
  }
  return runs;
}

// Throws DataError if a file of the run is damaged, or it is another run's copy.
RunRecord read_run(const fs::path& run, const std::string& name, const Experiment& experiment,
                   const std::string& change, RunReader& reader, SweepResults& out) {
  const Experiment own = load_description(run);
  if (run.filename() != "seed-" + std::to_string(own.seed)) {
    throw DataError(name + ": its config.json has seed " + std::to_string(own.seed) +
                    ", unlike its directory (a copy?)");
  }
  if (!row_conflicts(run, experiment, change).empty()) {
    out.notes.push_back(name +
                        " was trained with a different config than the row has now: omitted");
    return {.state = RunState::omitted, .status = "trained with a different config"};
  }
  RunRecord record = reader.read(run, name, own, experiment);
  if (!change.empty()) record.commit = record.commit.substr(0, record.commit.find('+'));
  return record;
}

RowRecord read_row(const PlannedRow& planned, const fs::path& directory, RunReader& reader,
                   SweepResults& out) {
  const Experiment& experiment = planned.experiment;
  RowRecord row{planned};
  row.values = values_by_path(row.config);
  if (const ProgramChange& change = row.change; !change.kind.empty()) {  // an option in tables
    row.changed.push_back(change.kind);
    row.values[change.kind] = change.file;
  }
  for (const auto& [seed, run] : runs_of(directory / row.name)) {
    const std::string name = row.name + "/" + run.filename().string();
    RunRecord& record = row.runs.emplace_back();
    try {
      record = read_run(run, name, experiment, row.change.record, reader, out);
    } catch (const std::exception& error) {  // the results of the others are still reported
      out.notes.push_back(std::string(error.what()) + ": omitted");
      record = {.state = RunState::omitted, .status = "omitted (see the notes)"};
    }
    record.name = name;
    record.seed = seed;
  }
  for (int64_t seed = experiment.seed; seed < experiment.seed + row.seeds; ++seed) {
    row.missing += std::ranges::count(row.runs, seed, &RunRecord::seed) == 0;
  }
  return row;
}

// Trains a run's config again: the command in run.json is that of its start, and it may have been
// resumed with other options. On a CPU rounding depends on the number of threads.
std::string run_command(const fs::path& run, const std::string& name) {
  const auto threads = recorded(run, kThreads);
  const int64_t processes = recorded(run, kProcesses).value_or(1);
  const fs::path config = RunDirectory(run.lexically_normal()).config();
  return (processes > 1 ? "mpirun -np " + std::to_string(processes) + " " : "") + "attn " +
         (threads ? "--threads " + std::to_string(*threads) + " " : "") + "train " +
         shell_word(config.string()) + " --run " + shell_word("runs/" + name + "-again");
}

SweepResults results_of(const std::string& title, const std::string& about,
                        const SweepMetrics& metrics) {
  SweepResults out;
  out.title = title;
  out.about = printable(about);
  out.made = "Made by " + version_line() + ".";
  out.evaluators = metrics;
  return out;
}

// Reads sweep.json.
SweepPlan read_plan(const fs::path& path) {
  const std::string text = read_file(path, kMaxConfigBytes);
  try {
    SweepPlan plan;
    read_config(plan, parse_json(text, kSweepFile));
    require(!plan.rows.empty(), "rows", "[]", "must have at least one row");
    const auto last = static_cast<int64_t>(plan.rows.size()) - 1;
    for (PlannedRow& row : plan.rows) {
      row.experiment = read_resolved(row.config, "row " + row.name);
      require_between("rows." + row.name + ".baseline", row.baseline, 0, last);
      require_between("rows." + row.name + ".seeds", row.seeds, 0, kMaxSeeds);
    }
    return plan;
  } catch (const std::exception& error) {  // of Json or of a config
    throw DataError(path.string() + ": corrupt or written by an earlier version (" + error.what() +
                    "); run attn sweep again to rewrite it");
  }
}

// The results of the runs that the plan has.
SweepResults results_of_plan(const SweepPlan& plan, const fs::path& directory) {
  std::vector<Experiment> experiments;
  for (const PlannedRow& row : plan.rows) experiments.push_back(row.experiment);
  SweepResults out =
      results_of(fs::path(plan.source).stem().string(), plan.file.about, plan.metrics);
  out.command = plan.command;
  out.notes = plan.tuning;
  out.published = plan.file.published;
  RunReader reader(out);
  for (const PlannedRow& row : plan.rows) {
    out.rows.push_back(read_row(row, directory, reader, out));
  }
  mark_equivalent(out, experiments);
  mark_incomparable(out, experiments);
  note_ineffective(out, experiments);
  note_builds(out);
  reader.note_tests();
  return out;
}

SweepResults results_of_run(const fs::path& run) {
  const Experiment experiment = load_description(run);
  const std::string title =
      fs::absolute(run / ".").lexically_normal().parent_path().filename().string();
  SweepResults out = results_of(title, experiment.about, chosen_metrics(experiment, {}, ""));
  out.single_run = true;
  out.command = run_command(run, title);
  RowRecord row;
  row.name = title;
  row.values = values_by_path(write_resolved(experiment));
  RunReader reader(out);
  row.runs.push_back(reader.read(run, title, experiment, experiment));
  out.rows.push_back(std::move(row));
  if (const std::string& changes = out.rows[0].runs[0].changes; !changes.empty()) {
    out.command += "   # then --resume --change: " + changes + "; config.json has the last values";
  }
  note_builds(out);
  reader.note_tests();
  return out;
}

SweepResults collect_results(const fs::path& directory) {
  if (kind_of(directory) == InputKind::run) return results_of_run(directory);
  const fs::path path = directory / kSweepFile;
  if (!fs::exists(path)) {
    throw DataError(directory.string() +
                    (fs::exists(directory)
                         ? ": not a sweep directory: " + std::string(kSweepFile) +
                               " is missing; give the directory of a sweep or a run"
                         : ": no such sweep or run"));
  }
  return results_of_plan(read_plan(path), directory);
}

}  // namespace

Report::Report(const fs::path& path)
    : directory(path), results(collect_results(path)), comparisons(compare(results)) {}

std::string Report::write(const std::string& returned) const {
  const auto replace = Json::error_handler_t::replace;  // notes may quote a file that is not UTF-8
  const std::map<std::string, std::string> texts = {
      {"report.md", markdown_report(results, comparisons)},
      {"rows.csv", to_csv(rows_table(results, comparisons))},
      {"runs.csv", to_csv(runs_table(results))},
      {"curves.csv", to_csv(curves_table(results))},
      {"table.tex", to_latex(paper_table(results, comparisons))},
      {"report.json", description(results, comparisons).dump(1, ' ', false, replace) + "\n"}};
  try {
    for (const auto& [name, text] : texts) write_file_atomically(directory / name, text);
  } catch (const DataError& error) {  // another user's results may be read-only
    std::cerr << error.what() << "; the report is only printed\n";
    return texts.at(returned);
  }
  std::cerr << "written: " << (directory / "report.md").string()
            << ", and rows.csv, runs.csv, curves.csv, table.tex beside it\n";
  return texts.at(returned);
}

}  // namespace attn
