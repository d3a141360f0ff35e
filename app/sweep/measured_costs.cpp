#include "app/sweep/measured_costs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <tuple>
#include <utility>

#include "app/experiment/progress_line.h"
#include "app/machine/signals.h"
#include "app/sweep/processes.h"
#include "base/error.h"
#include "base/file.h"
#include "model/size.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

int64_t vocabulary_of(const SweepPlan& plan, const PlannedRow& row) {
  return plan.file.paper_vocabulary > 0 ? plan.file.paper_vocabulary
                                        : row.experiment.data.vocab_size;
}

// Batch size to measure, in tokens, so that an update takes at most a few seconds on a CPU.
int64_t measured_tokens(const PlannedRow& row, const CostOptions& options, double flops) {
  constexpr int64_t kMax = 4096, kMin = 512;
  constexpr double kFlopsAThread = 2.5e11;
  if (options.device != "cpu" || options.budget <= 0) return kMax;
  const double threads = static_cast<double>(std::max<int64_t>(options.threads / options.jobs, 1));
  const double batch = flops / static_cast<double>(row.experiment.train.accumulate);
  const double fit =
      static_cast<double>(row.experiment.data.batch_tokens) * kFlopsAThread * threads / batch;
  return std::clamp(static_cast<int64_t>(fit), kMin, kMax);
}

// Starts a program several times at once, with outputs[i] for the i-th, and waits for all. Returns
// the first one that failed, else the last one. A stop signal ends them: they save nothing.
std::pair<ProcessEnd, size_t> run_together(const std::vector<std::string>& arguments,
                                           const std::vector<fs::path>& outputs) {
  std::map<pid_t, size_t> processes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    fs::remove(outputs[i]);
    processes[start_process({.arguments = arguments, .environment = {}, .output = outputs[i]})] = i;
  }
  std::pair<ProcessEnd, size_t> result;
  while (!processes.empty()) {
    if (stop_requested()) {
      for (const auto& [process, output] : processes) ::kill(process, SIGKILL);
    }
    ProcessEnd end;
    const auto found = processes.find(wait_for_process(1.0, end));
    if (found == processes.end()) continue;
    if (result.first.exit_code == 0) result = {end, found->second};
    processes.erase(found);
  }
  return result;
}

StepBenchmark read_step(const fs::path& output) {
  const std::string text = read_file(output);
  const size_t begin = text.find('{');
  if (begin == std::string::npos) throw DataError(output.string() + ": no benchmark: " + text);
  StepBenchmark result;
  read_config(result, parse_json(text.substr(begin), output.string()));
  return result;
}

// Measures as many copies of the row at a time as runs will train, since they share caches, memory
// bandwidth and often a core.
std::optional<StepBenchmark> measure(const PlannedRow& row, const SweepPlan& plan,
                                     const CostOptions& options, const fs::path& scratch,
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

}  // namespace

MeasuredCosts measure_costs(const SweepPlan& plan, const CostOptions& options) {
  MeasuredCosts out;
  const ScratchDirectory scratch("attn-dry-run");  // for configs and encoded texts
  std::vector<size_t> rows;
  std::vector<double> flops;
  std::vector<RowSize> sizes;
  std::vector<const Experiment*> experiments;
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRow& row = plan.rows[i];
    if (!row.selected) continue;
    const int64_t vocabulary = vocabulary_of(plan, row);
    rows.push_back(i);
    experiments.push_back(&row.experiment);
    flops.push_back(update_flops(row.experiment, vocabulary));
    sizes.push_back({parameter_count(row.experiment.model, {vocabulary, vocabulary}),
                     row.experiment.train.bytes_per_parameter()});
  }
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int64_t> done = 0;
  const ProgressLine progress({.what = "measuring",
                               .unit = "of " + std::to_string(rows.size()) + " rows",
                               .done = [&] { return done.load(); }});
  CostSearch search{.budget = options.budget};
  search.measure = [&](size_t i) -> std::optional<StepBenchmark> {
    if (stop_requested()) return {};
    const PlannedRow& row = plan.rows[rows[i]];
    std::string why;
    auto cost =
        measure(row, plan, options, scratch.path(), measured_tokens(row, options, flops[i]), why);
    if (!cost) out.failures += (out.failures.empty() ? "row " : "; row ") + row.name + ": " + why;
    ++done;
    return cost;
  };
  search.seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  out.rows.resize(plan.rows.size());
  auto costs = estimate_costs(flops, sizes, search);
  correct_parameters(experiments, costs);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (costs[i]) {
      constexpr int64_t kEvaluationLines = 1000;  // lines of a missing text
      const PlannedRow& row = plan.rows[rows[i]];
      costs[i]->evaluation_seconds =
          evaluation_flops(row.experiment, vocabulary_of(plan, row), costs[i]->step.tokens_per_pair,
                           kEvaluationLines) /
          costs[i]->step.flops_per_second;
    }
    out.rows[rows[i]] = std::move(costs[i]);
  }
  return out;
}

}  // namespace attn
