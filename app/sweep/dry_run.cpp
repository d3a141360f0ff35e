#include "app/sweep/dry_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/experiment/head_widths.h"
#include "app/experiment/progress.h"
#include "app/experiment/progress_line.h"
#include "app/sweep/planned_power.h"
#include "app/sweep/processes.h"
#include "app/sweep/row_costs.h"
#include "app/sweep/schedule.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "model/size.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// The paper rounds parameters to millions.
constexpr double kRounding = 0.6;

double millions_at(const PlannedRow& row, int64_t vocabulary) {
  const VocabularySizes sizes{vocabulary, vocabulary};
  return static_cast<double>(parameter_count(row.experiment.model, sizes)) / 1e6;
}

bool disagrees(const PlannedRow& row, int64_t vocabulary) {
  return vocabulary > 0 && row.paper.params_m > 0 && row.paper.params_note.empty() &&
         std::abs(millions_at(row, vocabulary) - row.paper.params_m) > kRounding;
}

const Json& value_at(const Json& config, const std::string& path) {
  const Json* at = &config;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t dot = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, dot - begin);
    if (!at->is_object() || !at->contains(key)) return *at;
    at = &(*at)[key];
    begin = dot + 1;
  }
  return *at;
}

std::string differences(const PlannedRow& row) {
  const Json config = write_config(row.experiment);
  std::string text;
  for (const std::string& path : row.changed) {
    const std::string value = value_at(config, path).dump();
    text += text.empty() ? "" : "  ";
    text += path;
    // Without the value of arrays and their elements, which may be long.
    if (path.find('[') == std::string::npos && value.size() <= 24) text += "=" + value;
  }
  return text.empty() ? "-" : text;
}

// Batch size to measure, in tokens, so that an update takes at most a few seconds on a CPU.
int64_t measured_tokens(const PlannedRow& row, const DryRunOptions& options, double flops) {
  constexpr int64_t kMost = 4096, kFewest = 512;
  constexpr double kFlopsAThread = 2.5e11;
  if (options.device != "cpu" || options.budget <= 0) return kMost;
  const double threads = static_cast<double>(std::max<int64_t>(options.threads / options.jobs, 1));
  const double batch = flops / static_cast<double>(row.experiment.train.accumulate);
  const double fit =
      static_cast<double>(row.experiment.data.batch_tokens) * kFlopsAThread * threads / batch;
  return std::clamp(static_cast<int64_t>(fit), kFewest, kMost);
}

// Starts a program several times at once, with outputs[i] for the i-th, and waits for all. Returns
// the first one that failed, else the last one.
std::pair<ProcessEnd, size_t> run_together(const std::vector<std::string>& arguments,
                                           const std::vector<fs::path>& outputs) {
  std::map<pid_t, size_t> processes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    fs::remove(outputs[i]);
    processes[start_process({.arguments = arguments, .environment = {}, .output = outputs[i]})] = i;
  }
  std::pair<ProcessEnd, size_t> result;
  for (size_t left = outputs.size(); left > 0;) {
    ProcessEnd end;
    const auto found = processes.find(wait_for_process(1.0, end));
    if (found == processes.end()) continue;
    --left;
    if (result.first.exit_code == 0) result = {end, found->second};
  }
  return result;
}

StepBenchmark read_step(const fs::path& output) {
  const std::string text = read_file(output);
  const size_t begin = text.find('{');
  if (begin == std::string::npos) throw DataError(output.string() + ": no benchmark: " + text);
  Json json = parse_json(text.substr(begin), output.string());
  json.erase("peak_flops");
  StepBenchmark result;
  read_config(result, json);
  return result;
}

// Measures as many copies of the row at a time as runs will train, since they share caches, memory
// bandwidth and often a core.
std::optional<StepBenchmark> measure(const PlannedRow& row, const SweepPlan& plan,
                                     const DryRunOptions& options, const fs::path& scratch,
                                     int64_t batch_tokens, std::string& why) {
  const fs::path config = scratch / "config.json";
  write_file_atomically(config, write_config(row.experiment).dump());
  const auto arguments = [&](double seconds) {
    return std::vector<std::string>{
        program_path().string(),
        "--device",
        options.device,
        "--threads",
        std::to_string(std::max<int64_t>(options.threads / options.jobs, 1)),
        "bench",
        "step",
        config.string(),
        "--json",
        "--seconds",
        std::to_string(seconds),
        "--cache",
        (scratch / "cache").string(),
        "--batch-tokens",
        std::to_string(batch_tokens),
        "--vocabulary",
        std::to_string(plan.file.paper_vocabulary)};
  };
  std::vector<fs::path> outputs;
  for (int64_t i = 0; i < options.jobs; ++i) {
    outputs.push_back(scratch / ("out." + std::to_string(i) + ".json"));
  }
  // The first process alone writes the vocabulary and the encoded text.
  auto [end, which] = outputs.size() > 1 && !fs::exists(scratch / "cache")
                          ? run_together(arguments(0.0), {outputs.front()})
                          : std::pair<ProcessEnd, size_t>{};
  if (end.exit_code == 0) std::tie(end, which) = run_together(arguments(options.seconds), outputs);
  if (end.exit_code != 0) {
    const std::string text = read_file(outputs[which]);
    why = describe(end) + ": " + text.substr(0, text.find_last_not_of('\n') + 1);
    return {};
  }
  StepBenchmark mean = read_step(outputs.front());
  for (size_t i = 1; i < outputs.size(); ++i) {
    const StepBenchmark other = read_step(outputs[i]);
    const double share = 1.0 / static_cast<double>(i + 1);
    const auto average = [&](double& a, double b) { a += share * (b - a); };
    average(mean.flops_per_second, other.flops_per_second);
    average(mean.tokens_per_second, other.tokens_per_second);
    average(mean.seconds_per_update, other.seconds_per_update);
  }
  return mean;
}

std::string params_text(const PlannedRow& row, int64_t vocabulary,
                        const std::optional<RowCost>& cost) {
  if (vocabulary > 0) return format("%.1f", millions_at(row, vocabulary));
  if (cost) return format("%.3g", static_cast<double>(cost->step.parameters) / 1e6);
  // Only the treebank has the number of a parser's target symbols.
  if (row.experiment.data.task == Task::parsing) return "?";
  return format("%.3g", millions_at(row, row.experiment.data.vocab_size));
}

// One line of the table.
void print_row(const PlannedRow& row, int name_width, int64_t vocabulary,
               const std::optional<RowCost>& cost) {
  const double steps = static_cast<double>(row.experiment.train.steps);
  std::string flops = "?", time = "?", memory = "?";
  if (cost) {
    flops = format("%.2g", steps * cost->step.flops_per_update);
    const std::string mark = cost->predicted ? "~" : "";
    time = mark + duration_text(cost->run_seconds(row.experiment.train.steps));
    memory = mark + format("%.1f GB", cost->step.memory / 1e9);
  }
  const std::string paper = row.paper.params_m > 0 ? format("%.0f", row.paper.params_m) : "";
  std::printf("%-*s %9s %6s %10s %12s %9s  %s%s\n", name_width, row.name.c_str(),
              params_text(row, vocabulary, cost).c_str(), paper.c_str(), flops.c_str(),
              time.c_str(), memory.c_str(), differences(row).c_str(),
              row.paper.params_note.empty() ? "" : (" (" + row.paper.params_note + ")").c_str());
  std::fflush(stdout);
}

void print_width_notes(const SweepPlan& plan) {
  for (const PlannedRow& row : plan.rows) {
    const std::string note = row.selected ? width_note(row.experiment.model) : "";
    if (!note.empty()) std::printf("(row %s: %s)\n", row.name.c_str(), note.c_str());
  }
  std::fflush(stdout);
}

// Totals over all runs.
struct Totals {
  double flops = 0.0;
  bool invented = false;  ///< some text is missing
  std::string measured;   ///< names of rows
  bool predicted = false;

  void add(const PlannedRow& row, int64_t runs, const RowCost& cost) {
    const auto updates = static_cast<double>(row.experiment.train.steps * runs);
    flops += updates * cost.step.flops_per_update;
    invented |= !cost.step.real_data;
    predicted |= cost.predicted;
    if (!cost.predicted) measured += (measured.empty() ? "" : ", ") + row.name;
  }
};

void print_totals(const SweepPlan& plan, const DryRunOptions& options, const Totals& totals,
                  double seconds) {
  std::printf("%zu runs", plan.runs.size());
  if (options.measure) {
    std::printf(", %.2g FLOPs, %s with %lld at a time", totals.flops,
                duration_text(seconds).c_str(), static_cast<long long>(options.jobs));
  }
  std::printf(", in %s\n", plan.directory.c_str());
  if (totals.predicted) {
    std::printf(
        "(~: predicted from FLOPs and the measured rows: %s; --budget 0 measures "
        "all)\n",
        totals.measured.c_str());
  }
  if (totals.invented) {
    std::printf(
        "(the training text is missing: estimated from synthetic pairs, median 22 tokens)\n");
  }
  if (const std::string power = planned_power(plan); !power.empty()) {
    std::printf("(%s)\n", power.c_str());
  }
  if (plan.file.paper_vocabulary > 0) {
    std::printf("(parameters with a vocabulary of %lld, as in the paper)\n",
                static_cast<long long>(plan.file.paper_vocabulary));
  }
}

}  // namespace

void check_parameters(const SweepPlan& plan) {
  std::string list;
  for (const PlannedRow& row : plan.rows) {
    if (!disagrees(row, plan.file.paper_vocabulary)) continue;
    list += list.empty() ? "" : ", ";
    list += row.name + format(" (%.1f million, paper %.0f)",
                              millions_at(row, plan.file.paper_vocabulary), row.paper.params_m);
  }
  if (list.empty()) return;
  throw ConfigError(plan.source.string() + ": parameters differ from the paper's: " + list +
                    "; correct the row, or explain it in paper.params_note");
}

namespace {

int64_t vocabulary_of(const SweepPlan& plan, const PlannedRow& row) {
  return plan.file.paper_vocabulary > 0 ? plan.file.paper_vocabulary
                                        : row.experiment.data.vocab_size;
}

// The costs of the selected rows, in the plan's order; std::nullopt for the others.
std::vector<std::optional<RowCost>> costs_of(const SweepPlan& plan, const DryRunOptions& options,
                                             std::string& failures) {
  const ScratchDirectory scratch("attn-dry-run");  // for configs and encoded texts
  std::vector<size_t> rows;
  std::vector<double> flops;
  std::vector<int64_t> parameters;
  std::vector<const Experiment*> experiments;
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRow& row = plan.rows[i];
    if (!row.selected) continue;
    const int64_t vocabulary = vocabulary_of(plan, row);
    rows.push_back(i);
    experiments.push_back(&row.experiment);
    flops.push_back(update_flops(row.experiment, vocabulary));
    parameters.push_back(parameter_count(row.experiment.model, {vocabulary, vocabulary}));
  }
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int64_t> done = 0;
  const ProgressLine progress({.what = "measuring",
                               .unit = "of " + std::to_string(rows.size()) + " rows",
                               .done = [&] { return done.load(); }});
  CostSearch search{.budget = options.budget};
  search.measure = [&](size_t i) {
    const PlannedRow& row = plan.rows[rows[i]];
    std::string why;
    auto cost =
        measure(row, plan, options, scratch.path(), measured_tokens(row, options, flops[i]), why);
    if (!cost) failures += "row " + row.name + ": " + why + "\n";
    ++done;
    return cost;
  };
  search.seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<std::optional<RowCost>> out(plan.rows.size());
  auto costs = estimate_costs(flops, parameters, search);
  correct_parameters(experiments, costs);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (costs[i]) {
      constexpr int64_t kEvaluationLines = 1000;  // of a text that is missing
      const PlannedRow& row = plan.rows[rows[i]];
      costs[i]->evaluation_seconds =
          evaluation_flops(row.experiment, vocabulary_of(plan, row), costs[i]->step.tokens_per_pair,
                           kEvaluationLines) /
          costs[i]->step.flops_per_second;
    }
    out[rows[i]] = std::move(costs[i]);
  }
  return out;
}

}  // namespace

void dry_run(const SweepPlan& plan, const DryRunOptions& options) {
  Totals totals;
  std::string failures;
  std::vector<std::optional<RowCost>> costs(plan.rows.size());
  if (options.measure) costs = costs_of(plan, options, failures);
  size_t longest = 14;
  for (const PlannedRow& row : plan.rows) {
    if (row.selected) longest = std::max(longest, row.name.size());
  }
  const auto name_width = static_cast<int>(longest);
  std::printf("%-*s %9s %6s %10s %12s %9s  %s\n", name_width, "row", "params/M", "paper", "FLOPs",
              "time", "memory", "differs from the first row");
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRow& row = plan.rows[i];
    if (!row.selected) continue;
    if (costs[i]) {
      const auto runs = std::count_if(plan.runs.begin(), plan.runs.end(),
                                      [&](const PlannedRun& run) { return run.row == i; });
      totals.add(row, runs, *costs[i]);
    }
    print_row(row, name_width, plan.file.paper_vocabulary, costs[i]);
  }
  std::vector<double> seconds;  // of each run that was measured
  for (const size_t i : start_order(plan)) {
    const PlannedRun& run = plan.runs[i];
    if (costs[run.row]) seconds.push_back(costs[run.row]->run_seconds(run.experiment.train.steps));
  }
  print_totals(plan, options, totals, makespan({}, seconds, options.jobs));
  print_width_notes(plan);
  if (!failures.empty()) throw DataError("not measured: " + failures);
  check_parameters(plan);
}

}  // namespace attn
