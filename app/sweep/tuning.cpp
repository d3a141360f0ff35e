#include <algorithm>
#include <limits>
#include <set>

#include "app/experiment/run_result.h"
#include "app/sweep/plan.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

const std::string& deciding(const SweepPlan& plan) {
  return plan.metrics.evaluators[Metric::loss];
}

// A row with each combination of the grid's values.
std::vector<PlannedRow> with_settings(const PlannedRow& row, const Json& grid) {
  std::vector<PlannedRow> rows;
  for (const ExpandedRow& settings : expand({.name = row.name, .grid = grid})) {
    rows.push_back(row);
    rows.back().name = settings.row.name;
    rows.back().experiment =
        patched(row.experiment, settings.values, "tune: row " + settings.row.name);
  }
  return rows;
}

// The grid's values in its combination of this number.
std::vector<Json> values_of(const Json& grid, size_t combination) {
  return expand({.name = "tune", .grid = grid}).at(combination).combination;
}

SweepPlan plan_grid(const SweepPlan& plan, const Json& grid) {
  SweepPlan trials = plan;
  trials.directory = plan.directory / "tune";
  if (!plan.collection.empty()) trials.collection = plan.collection / "tune";
  trials.tuning_grid = grid;
  trials.metrics = {};
  trials.metrics.evaluators[Metric::loss] = deciding(plan);
  trials.rows.clear();
  for (const PlannedRow& row : plan.rows) {
    for (PlannedRow& trial : with_settings(row, grid)) {
      trial.group = row.name;
      trial.baseline = 0;
      trial.seeds = 1;
      trial.selected = true;  // the choice of settings does not depend on --only
      trial.experiment.train.steps = plan.file.tune.at("updates");
      std::erase_if(trial.experiment.eval,
                    [&](const EvaluatorConfig& one) { return one.name != deciding(plan); });
      trials.rows.push_back(std::move(trial));
    }
  }
  plan_runs(trials);
  inspect_runs(trials);
  return trials;
}

struct Choice {
  size_t trial = 0;  // number of the combination
  double ppl = kInfinite;
};

// For each row the trial with the lowest perplexity at its end, the first of equals.
std::vector<Choice> choices_of(const SweepPlan& plan, const SweepPlan& trials) {
  std::vector<Choice> choices(plan.rows.size());
  const size_t each = trials.runs.size() / choices.size();
  for (size_t i = 0; i < trials.runs.size(); ++i) {
    const auto result = read_result(trials.runs[i].directory);
    const bool usable = result && result->end != RunEnd::diverged;
    const double ppl =
        usable ? result->score(deciding(trials), "ppl").value_or(kInfinite) : kInfinite;
    if (ppl < choices[i / each].ppl) choices[i / each] = {i % each, ppl};
  }
  return choices;
}

// -1 or 1: a number, and the lowest (other than 0, below which there is none) or highest; else 0.
int edge_of(const Json& value, const Json& values) {
  const auto is_number = [](const Json& one) { return one.is_number(); };
  if (values.size() < 2 || !std::ranges::all_of(values, is_number)) return 0;
  const auto [low, high] = std::ranges::minmax(values);
  return value == high ? 1 : value == low && value != 0 ? -1 : 0;
}

// The next value beyond an edge, in the ratio of the last two, or twice the last one after 0.
Json value_beyond(const Json& values, int side) {
  std::set<double> sorted;
  for (const Json& value : values) sorted.insert(side * value.get<double>());
  const double edge = side * *sorted.rbegin(), inner = side * *std::next(sorted.rbegin());
  const double beyond = inner == 0 ? 2 * edge : edge * edge / inner;
  return Json::parse(format("%.4g", beyond));  // a whole number as an integer
}

// The grid with a value beyond each edge at which a row's choice is, if all rows allow the value.
Json extended(const SweepPlan& plan, const Json& grid, const std::vector<Choice>& choices) {
  Json wider = grid;
  std::set<std::pair<std::string, int>> edges;
  for (const Choice& choice : choices) {
    const std::vector<Json> values = values_of(grid, choice.trial);
    for (size_t i = 0; const auto& [path, all] : grid.items()) {
      if (const int side = edge_of(values[i++], all)) edges.emplace(path, side);
    }
  }
  for (const auto& [path, side] : edges) {
    const Json value = value_beyond(grid[path], side);
    if (std::ranges::count(grid[path], value) > 0) continue;
    try {
      for (const PlannedRow& row : plan.rows) with_settings(row, {{path, Json::array({value})}});
      wider[path].push_back(value);
    } catch (const ConfigError&) {  // no valid value: the choice stays at an edge
    }
  }
  return wider;
}

}  // namespace

SweepPlan plan_trials(const SweepPlan& plan) {
  const EvaluatorConfig* evaluator = find_evaluator(plan.rows.front().experiment, deciding(plan));
  if (evaluator == nullptr || evaluator->test) {
    throw ConfigError(plan.source +
                      ": tune: needs an evaluator of kind loss on a set that is not \"test\"");
  }
  Json grid = plan.file.tune;
  grid.erase("updates");
  const SweepPlan trials = plan_grid(plan, grid);
  if (has_unfinished(trials)) return trials;
  return plan_grid(plan, extended(plan, grid, choices_of(plan, trials)));
}

void choose_settings(SweepPlan& plan, const SweepPlan& trials) {
  const std::vector<Choice> choices = choices_of(plan, trials);
  const Json& grid = trials.tuning_grid;
  std::vector<int64_t> own;  // the row that has the own settings of each
  for (size_t i = 0; i < choices.size(); ++i) {
    const std::vector<PlannedRow> settings = with_settings(plan.rows[i], grid);
    std::string text = plan.rows[i].name + ": of " + counted(settings.size(), "trial") + " ", edges;
    const std::vector<Json> values = values_of(grid, choices[i].trial);
    for (size_t k = 0; const auto& [path, all] : grid.items()) {
      if (edge_of(values[k], all) != 0) edges += ", " + path + " at an edge of the grid";
      text += (k == 0 ? "" : ", ") + path + "=" + values[k].dump();
      ++k;
    }
    plan.tuning.push_back("tuned: " + text + " (perplexity " + decimal(choices[i].ppl, 2) + edges +
                          ")");
    const bool chosen_for_all = choices[i].trial == choices[0].trial;
    own.push_back(static_cast<int64_t>(chosen_for_all ? i : plan.rows.size()));
    if (!chosen_for_all) {
      plan.rows.push_back(plan.rows[i]);
      plan.rows.back().name += ".tuned";
      plan.rows.back().experiment = settings[choices[i].trial].experiment;
    }
    plan.rows[i].experiment = settings[choices[0].trial].experiment;
  }
  for (size_t i = choices.size(); i < plan.rows.size(); ++i) {
    plan.rows[i].baseline = own[plan.rows[i].baseline];
  }
  plan_runs(plan);
}

}  // namespace attn
