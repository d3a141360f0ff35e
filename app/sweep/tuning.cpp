#include <algorithm>
#include <limits>

#include "app/experiment/run_result.h"
#include "app/sweep/plan.h"
#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

const std::string& deciding(const SweepPlan& plan) {
  return plan.metrics[Metric::loss];
}

// The combinations of the values that are tried.
std::vector<ExpandedRow> combinations_of(const SweepPlan& plan) {
  SweepRow row{.name = "tune", .grid = plan.file.tune};
  row.grid.erase("updates");
  return expand(row);
}

// The row with one of them.
PlannedRow with_settings(PlannedRow row, const ExpandedRow& combination) {
  row.experiment = patched(row.experiment, combination.values, "tune: row " + row.name);
  return row;
}

// The number, for each row, of the trial with the lowest perplexity at its end, the first of
// equals, and this perplexity.
std::vector<std::pair<size_t, double>> choices_of(const SweepPlan& plan, const SweepPlan& trials) {
  std::vector<std::pair<size_t, double>> choices(plan.rows.size(), {0, kInfinite});
  const size_t each = trials.runs.size() / choices.size();
  for (size_t i = 0; i < trials.runs.size(); ++i) {
    const auto result = read_result(trials.runs[i].directory);
    const bool usable = result && result->end != RunEnd::diverged;
    const double ppl =
        usable ? result->score(deciding(trials), "ppl").value_or(kInfinite) : kInfinite;
    if (ppl < choices[i / each].second) choices[i / each] = {i % each, ppl};
  }
  return choices;
}

// Whether a number is the lowest (other than 0, below which there is none) or highest of several.
bool at_edge(const Json& value, const Json& values) {
  const auto is_number = [](const Json& one) { return one.is_number(); };
  if (values.size() < 2 || !std::ranges::all_of(values, is_number)) return false;
  const auto [low, high] = std::ranges::minmax(values);
  return value == high || (value == low && value != 0);
}

}  // namespace

SweepPlan plan_trials(const SweepPlan& plan) {
  SweepPlan trials = plan;
  trials.directory = plan.directory / "tune";
  if (!plan.collection.empty()) trials.collection = plan.collection / "tune";
  trials.metrics = {};
  trials.metrics[Metric::loss] = deciding(plan);
  trials.rows.clear();
  for (const PlannedRow& row : plan.rows) {
    const EvaluatorConfig* evaluator = find_evaluator(row.experiment, deciding(plan));
    if (evaluator == nullptr || evaluator->kind() != EvaluatorKind::loss || evaluator->test) {
      throw ConfigError(plan.source + ": tune: row " + row.name +
                        " needs an evaluator of kind loss, the first row's by name, on a set that "
                        "is not \"test\"");
    }
    for (const ExpandedRow& combination : combinations_of(plan)) {
      PlannedRow& trial = trials.rows.emplace_back(with_settings(row, combination));
      trial.name += combination.row.name.substr(std::string_view("tune").size());
      trial.group = row.name;
      trial.baseline = 0;
      trial.seeds = 1;
      trial.selected = true;  // the choice of settings does not depend on --only
      trial.experiment.train.steps = plan.file.tune.at("updates");
      trial.experiment.train.patience = 0;
      std::erase_if(trial.experiment.eval,
                    [&](const EvaluatorConfig& one) { return one.name != deciding(plan); });
    }
  }
  plan_runs(trials);
  inspect_runs(trials);
  return trials;
}

void choose_settings(SweepPlan& plan, const SweepPlan& trials) {
  const std::vector<ExpandedRow> combinations = combinations_of(plan);
  const auto choices = choices_of(plan, trials);
  const size_t chosen_for_first = choices[0].first;
  std::vector<int64_t> own;  // the row that has the own settings of each
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto [trial, ppl] = choices[i];
    const PlannedRow row = plan.rows[i];
    std::string settings, edges;
    for (size_t k = 0; const auto& [path, all] : combinations[trial].row.grid.items()) {
      const Json& value = combinations[trial].combination[k++];
      settings += (settings.empty() ? "" : ", ") + path + "=" + value.dump();
      if (at_edge(value, all)) edges += ", " + path + " at an edge of the grid";
    }
    plan.tuning.push_back("tuned: " + row.name + ": of " + counted(combinations.size(), "trial") +
                          " " + settings + " (perplexity " + decimal(ppl, 2) + edges + ")");
    own.push_back(static_cast<int64_t>(trial == chosen_for_first ? i : plan.rows.size()));
    if (trial != chosen_for_first) {
      plan.rows.push_back(with_settings(row, combinations[trial]));
      plan.rows.back().name += ".tuned";
    }
    plan.rows[i] = with_settings(row, combinations[chosen_for_first]);
  }
  for (size_t i = choices.size(); i < plan.rows.size(); ++i) {
    plan.rows[i].baseline = own[plan.rows[i].baseline];
  }
  plan_runs(plan);
}

}  // namespace attn
