#include "app/sweep/report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>

#include "app/experiment/find_checkpoint.h"
#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "app/experiment/run_result.h"
#include "app/machine/shell.h"
#include "app/machine/version.h"
#include "app/sweep/plan.h"
#include "app/sweep/run_reader.h"
#include "app/sweep/status.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

PaperRecord paper_of(const Json& json, const std::string& place) {
  PaperResults paper_results;
  read_config(paper_results, json, place);
  PaperRecord paper{.scores = {},
                    .params_m = positive(paper_results.params_m),
                    .flops = positive(paper_results.flops)};
  for (const MetricFacts& facts : kMetrics) {
    paper.scores[facts.metric] = positive(paper_results.scores[facts.metric]);
  }
  return paper;
}

std::optional<int64_t> seed_of(const fs::path& run) {
  const std::string name = run.filename().string();
  if (!name.starts_with("seed-")) return std::nullopt;
  const auto seed = parse_number<int64_t>(name.substr(5));
  return seed && *seed >= 0 ? seed : std::nullopt;
}

// The run directories of a row, by their seeds.
std::vector<fs::path> runs_of(const fs::path& row) {
  std::multimap<int64_t, fs::path> runs;
  if (!fs::is_directory(row)) return {};
  for (const auto& entry : fs::directory_iterator(row)) {
    const auto seed = seed_of(entry.path());
    if (seed && RunDirectory(entry.path()).has_config()) runs.emplace(*seed, entry.path());
  }
  const auto paths = std::views::values(runs);
  return {paths.begin(), paths.end()};
}

// The planned seeds of a row that are not among its runs.
std::vector<int64_t> missing_seeds(const Json& row, int64_t first,
                                   const std::vector<RunRecord>& runs) {
  const auto planned = row.at("seeds").get<int64_t>();
  require_between("seeds", planned, 0, kMaxSeeds);
  std::vector<int64_t> missing;
  for (int64_t seed = first; seed < first + planned; ++seed) {
    const bool has = std::any_of(runs.begin(), runs.end(),
                                 [&](const RunRecord& run) { return run.seed == seed; });
    if (!has) missing.push_back(seed);
  }
  return missing;
}

RunRecord omitted(const fs::path& run, const std::string& name, const std::string& status) {
  RunRecord record;
  record.name = name;
  record.seed = seed_of(run).value_or(0);
  record.state = RunState::omitted;
  record.status = status;
  return record;
}

// Throws DataError if a file of the run is damaged.
void add_run(const fs::path& run, const std::string& name, const Experiment& experiment,
             RowRecord& row, RunReader& reader, SweepResults& out) {
  const Experiment own = load_description(run);
  if (run.filename() != "seed-" + std::to_string(own.seed)) {
    out.notes.push_back(name + ": its config.json has seed " + std::to_string(own.seed) +
                        ", unlike its directory (a copy?): omitted");
    return;
  }
  if (!conflicts(run, experiment, row.change).empty()) {
    out.notes.push_back(name +
                        " was trained with a different config than the row has now: omitted");
    row.runs.push_back(omitted(run, name, "trained with a different config"));
    return;
  }
  RunRecord record = reader.read(run, name, own, experiment);
  if (!row.change.empty()) record.commit = record.commit.substr(0, record.commit.find('+'));
  row.runs.push_back(record);
}

RowRecord read_row(const Json& json, const Experiment& experiment, const fs::path& directory,
                   RunReader& reader, SweepResults& out) {
  RowRecord row;
  row.name = json.at("name").get<std::string>();
  row.about = json.at("about").get<std::string>();
  row.group = json.value("group", "");
  row.baseline = json.at("baseline").get<size_t>();
  row.changed = json.at("changed").get<std::vector<std::string>>();
  row.paper = paper_of(json.at("paper"), "rows." + row.name + ".paper");
  row.values = values_by_path(json.at("config"));
  if (const Json change = json.value("change", Json()); change.is_object()) {
    const auto label = change.at("label").get<std::string>();
    row.change_label = label + " (" + change.at("hash").get<std::string>().substr(0, 8) + ")";
    row.change = change.at("record").get<std::string>();
    const size_t space = label.find(' ');  // in tables it is an option: "diff", "binary"
    row.changed.push_back(label.substr(0, space));
    row.values[row.changed.back()] = label.substr(space + 1);
  }
  for (const fs::path& run : runs_of(directory / row.name)) {
    const std::string name = row.name + "/" + run.filename().string();
    try {
      add_run(run, name, experiment, row, reader, out);
    } catch (const DataError& error) {  // the results of the others are still reported
      out.notes.push_back(std::string(error.what()) + ": omitted");
      row.runs.push_back(omitted(run, name, "has a damaged file"));
    }
  }
  row.missing_seeds = missing_seeds(json, experiment.seed, row.runs);
  return row;
}

// Trains a run's config again: the command in run.json is that of its start, and it may have been
// resumed with other options. On a CPU rounding depends on the number of threads.
std::string run_command(const fs::path& run, const std::string& name) {
  const auto threads = recorded(run, kThreads);
  const fs::path config = RunDirectory(run.lexically_normal()).config();
  return "attn " + (threads ? "--threads " + std::to_string(*threads) + " " : "") + "train " +
         shell_word(config.string()) + " --run " + shell_word("runs/" + name + "-again");
}

// The first evaluator of each kind.
SweepMetrics metrics_of(const Experiment& experiment) {
  SweepMetrics metrics;
  for (const EvaluatorConfig& config : experiment.eval) {
    std::string& name = metrics.evaluators[config.kind()];
    if (name.empty()) name = config.name;
  }
  return metrics;
}

// The results of the runs that sweep.json plans.
SweepResults results_of_plan(const Json& plan, const fs::path& directory) {
  SweepMetrics metrics;
  read_config(metrics, plan.at("metrics"), "metrics");
  SweepResults out;
  out.evaluators = metrics.evaluators;
  const auto source = plan.at("source").get<std::string>();
  out.title = fs::path(source).stem().string();
  out.about = plan.at("about").get<std::string>();
  out.made = "Made by " + version_line() + ".";
  const Experiment base = read_resolved(plan.at("rows").at(0).at("config"), "the first row");
  if (const auto* evaluator = find_evaluator(base, metrics.evaluators[Metric::bleu])) {
    out.bleu_options = evaluator->get<BleuEvaluation>().bleu_options();
  }
  out.notes = plan.value("tuning", std::vector<std::string>());
  RunReader reader(out, metrics, true);
  std::vector<Experiment> experiments;
  for (const Json& row : plan.at("rows")) {
    experiments.push_back(
        read_resolved(row.at("config"), "row " + row.at("name").get<std::string>()));
    out.rows.push_back(read_row(row, experiments.back(), directory, reader, out));
  }
  for (const RowRecord& row : out.rows) {
    require_between("baseline", row.baseline, 0, out.rows.size() - 1);
  }
  const std::vector<size_t> first_equivalent = first_equivalent_runs(experiments);
  for (size_t i = 0; i < first_equivalent.size(); ++i) {
    for (size_t j = first_equivalent[i]; j < i && !out.rows[i].equivalent_row; ++j) {
      const bool same = first_equivalent[j] == first_equivalent[i];
      if (same && out.rows[j].change == out.rows[i].change) out.rows[i].equivalent_row = j;
    }
  }
  for (const Json& one : plan.at("published")) {
    out.published.push_back(
        {one.at("name").get<std::string>(), paper_of(one.at("paper"), "published")});
  }
  out.command = plan.at("command").get<std::string>();
  mark_incomparable(out, experiments);
  note_ineffective(out, experiments);
  note_builds(out);
  reader.note_tests();
  return out;
}

}  // namespace

SweepResults collect_run_results(const fs::path& run) {
  const Experiment experiment = load_description(run);
  const SweepMetrics metrics = metrics_of(experiment);
  SweepResults out;
  out.single_run = true;
  out.evaluators = metrics.evaluators;
  out.title = fs::absolute(run / ".").lexically_normal().parent_path().filename().string();
  out.about = experiment.about;
  out.command = run_command(run, out.title);
  out.made = "Made by " + version_line() + ".";
  if (const auto* evaluator = find_evaluator(experiment, metrics.evaluators[Metric::bleu])) {
    out.bleu_options = evaluator->get<BleuEvaluation>().bleu_options();
  }
  RowRecord row;
  row.name = out.title;
  RunReader reader(out, metrics, false);
  row.runs.push_back(reader.read(run, out.title, experiment, experiment));
  out.rows.push_back(std::move(row));
  note_builds(out);
  reader.note_tests();
  return out;
}

SweepResults collect_results(const fs::path& directory) {
  const fs::path path = directory / kSweepFile;
  if (!fs::exists(path)) {
    throw DataError(directory.string() +
                    (fs::exists(directory)
                         ? ": not a sweep directory: " + std::string(kSweepFile) +
                               " is missing; give the directory of a sweep or a run"
                         : ": no such sweep or run"));
  }
  try {
    return results_of_plan(parse_json(read_file(path), kSweepFile), directory);
  } catch (const DataError&) {
    throw;
  } catch (const std::exception& error) {  // of Json or of a config
    throw DataError(path.string() + ": corrupt (" + error.what() +
                    "); run attn sweep again to rewrite it");
  }
}

}  // namespace attn
