#include "app/sweep/costs.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <numeric>
#include <queue>

#include "app/experiment/progress_line.h"
#include "app/machine/signals.h"
#include "app/sweep/processes.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTokens = 25;             // tokens per sentence
constexpr double kTraining = 3.0;           // FLOPs of an update / FLOPs of its forward pass
constexpr int64_t kEvaluationLines = 1000;  // of a missing text

VocabularySizes sizes_of(const DataConfig& data, const DataConfig& measured,
                         const StepBenchmark& base) {
  const bool same = data.task == measured.task && data.tokenizer == measured.tokenizer &&
                    data.shared_vocabulary == measured.shared_vocabulary &&
                    data.vocab_size == measured.vocab_size;
  if (!same) return {data.vocab_size, data.vocab_size};
  return {base.source_vocabulary, base.target_vocabulary, base.source_features};
}

// Waits for the process; a stop signal kills it, since it has nothing to save.
ProcessEnd wait_or_kill(pid_t process) {
  ProcessEnd end;
  while (wait_for_process(1.0, end) != process) {
    if (stop_requested()) ::kill(process, SIGKILL);
  }
  return end;
}

}  // namespace

double update_flops(const Experiment& experiment, const VocabularySizes& sizes) {
  const double pairs = static_cast<double>(experiment.data.batch_tokens) / kTokens *
                       static_cast<double>(experiment.train.accumulate);
  return kTraining * pairs * forward_flops(experiment.model, sizes, {kTokens, kTokens});
}

double evaluation_flops(const Experiment& experiment, const VocabularySizes& sizes,
                        double tokens_per_line, int64_t default_lines) {
  constexpr double kLossPasses = 2.0;  // measured beside training, as are the passes of a search
  const auto tokens = std::max<int64_t>(std::llround(tokens_per_line), 1);
  const double line = forward_flops(experiment.model, sizes, {tokens, tokens});
  double flops = 0.0;
  for (const EvaluatorConfig& evaluator : experiment.eval) {
    const auto path = text_files(experiment.data, evaluator.text(experiment.data)).back();
    const auto lines =
        fs::is_regular_file(path) ? static_cast<int64_t>(read_lines(path).size()) : default_lines;
    const SearchConfig* search = evaluator.search();
    const double passes = search ? static_cast<double>(search->hypotheses()) : kLossPasses;
    // On schedule and after the last update; the averaged weights, or without a schedule, once.
    const int64_t every = evaluator.every, steps = experiment.train.steps;
    const int64_t scheduled = every > 0 ? (steps + every - 1) / every : 0;
    const int64_t times = scheduled + (every == 0 || experiment.train.average_last > 0 ? 1 : 0);
    flops += static_cast<double>(times) * static_cast<double>(lines) * passes * line;
  }
  return flops;
}

RowCost scaled_cost(const Experiment& row, const Experiment& measured, const StepBenchmark& base) {
  const VocabularySizes sizes = sizes_of(row.data, measured.data, base);
  const double ratio = update_flops(row, sizes) /
                       update_flops(measured, sizes_of(measured.data, measured.data, base));
  RowCost cost{.parameters = parameter_count(row.model, sizes)};
  cost.flops = static_cast<double>(row.train.steps) * base.flops_per_update * ratio;
  const double evaluations = evaluation_flops(row, sizes, base.tokens_per_pair, kEvaluationLines);
  cost.seconds = (cost.flops + evaluations) / base.flops_per_second;
  const double fixed = static_cast<double>(cost.parameters * row.train.bytes_per_parameter());
  cost.memory = fixed + std::max(base.memory - base.fixed_memory, 0.0) * std::sqrt(ratio);
  return cost;
}

StepBenchmark measure_first_row(const SweepPlan& plan, const CostOptions& options) {
  const ScratchDirectory scratch("attn-dry-run");  // for config and encoded text
  const fs::path config = scratch.path() / "config.json", output = scratch.path() / "out.json";
  const auto row = std::ranges::find_if(plan.rows, &PlannedRow::selected);
  write_file_atomically(config, write_config(row->experiment).dump());
  const int64_t threads = std::max<int64_t>(options.threads / options.jobs, 1);
  const ProgressLine progress({.what = "measuring " + row->name, .unit = ""});
  const ProcessEnd end = wait_or_kill(
      start_process({.arguments = {program_path().string(), "--device", options.device, "--threads",
                                   std::to_string(threads), "bench", "step", config.string(),
                                   "--json", "--seconds", std::to_string(options.seconds),
                                   "--cache", (scratch.path() / "cache").string(), "--vocabulary",
                                   std::to_string(plan.file.paper_vocabulary)},
                     .environment = {},
                     .output = output}));
  if (stop_requested()) return {};
  const std::string text = fs::exists(output) ? read_file(output) : "";
  const size_t begin = text.find('{');
  if (end.exit_code != 0 || begin == std::string::npos) {
    const size_t last = text.find_last_not_of('\n');
    throw DataError("row " + row->name + " was not measured: " + describe(end) + ": " +
                    text.substr(0, last == std::string::npos ? 0 : last + 1));
  }
  StepBenchmark result;
  read_config(result, parse_json(text.substr(begin), output.string()));
  return result;
}

double run_flops(const PlannedRun& run) {
  const int64_t vocabulary = run.experiment.data.vocab_size;
  return static_cast<double>(run.experiment.train.steps) *
         update_flops(run.experiment, {vocabulary, vocabulary});
}

std::vector<size_t> start_order(const SweepPlan& plan) {
  // The seed's number within its row: runs of a row are in the order of their seeds.
  std::vector<size_t> seed(plan.runs.size()), seeds(plan.rows.size(), 0);
  std::vector<double> flops;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    seed[i] = seeds[plan.runs[i].row]++;
    flops.push_back(run_flops(plan.runs[i]));
  }
  std::vector<size_t> order(plan.runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return seed[a] != seed[b] ? seed[a] < seed[b] : flops[a] > flops[b];
  });
  return order;
}

double makespan(std::span<const double> running, std::span<const double> waiting, int64_t jobs) {
  std::priority_queue<double, std::vector<double>, std::greater<>> ends(
      std::greater<>(), {running.begin(), running.end()});
  double last = running.empty() ? 0.0 : *std::max_element(running.begin(), running.end());
  while (static_cast<int64_t>(ends.size()) < jobs) ends.push(0.0);
  for (const double seconds : waiting) {
    const double end = ends.top() + seconds;
    ends.pop();
    ends.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace attn
