#include "app/sweep/costs.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "app/experiment/progress_line.h"
#include "app/experiment/resume.h"
#include "app/machine/exit.h"
#include "app/machine/processes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/lines.h"
#include "report/table.h"

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

std::string differences(const PlannedRow& row) {
  constexpr size_t kMaxValueLength = 24;
  const auto values = values_by_path(row.config);
  std::string text = row.change.label();
  for (const std::string& path : row.changed) {
    const auto value = values.find(path);
    text += text.empty() ? "" : "  ";
    text += path;
    if (value != values.end() && value->second.size() <= kMaxValueLength)
      text += "=" + value->second;
  }
  return text;
}

std::string params_text(const PlannedRow& row, int64_t vocabulary,
                        const std::optional<RowCost>& cost) {
  if (vocabulary > 0) return format("%.1f", millions_at(row, vocabulary));
  if (cost) return format("%.3g", static_cast<double>(cost->parameters) / 1e6);
  // Only the treebank has the number of a parser's target symbols.
  if (row.experiment.data.task == Task::parsing) return "?";
  return format("%.3g", millions_at(row, row.experiment.data.vocab_size));
}

void print_rows(const SweepPlan& plan, const std::vector<std::optional<RowCost>>& costs) {
  Table table;
  table.columns = {{"row", "row", true},
                   {"params", "params/M"},
                   {"paper", "paper"},
                   {"flops", "FLOPs"},
                   {"time", "time"},
                   {"memory", "memory"},
                   {"changed", "differs from the first row", true}};
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRow& row = plan.rows[i];
    const auto& cost = costs[i];
    if (!row.selected) continue;
    const std::string& note = row.paper.params_note;
    std::string changed = differences(row);
    if (changed.empty()) changed = i == 0 ? "-" : "- (a repetition)";
    table.rows.push_back({row.name, params_text(row, plan.file.paper_vocabulary, cost),
                          row.paper.params_m > 0 ? format("%.0f", row.paper.params_m) : "",
                          cost ? format("%.2g", cost->flops) : "?",
                          cost ? duration_text(cost->seconds) : "?",
                          cost ? format("%.1f GB", cost->memory / 1e9) : "?",
                          changed + (note.empty() ? "" : " (" + note + ")")});
  }
  std::cout << to_markdown(table) << "\n";
}

// Seconds until the last run ends, each started in its turn as soon as one of `jobs` is free.
double makespan(const std::vector<double>& runs, int64_t jobs) {
  std::vector<double> ends(static_cast<size_t>(jobs), 0.0);
  for (const double seconds : runs) *std::ranges::min_element(ends) += seconds;
  return std::ranges::max(ends);
}

void print_totals(const SweepPlan& plan, const std::vector<std::optional<RowCost>>& costs,
                  int64_t jobs) {
  double flops = 0.0;
  std::vector<double> seconds, unfinished;
  for (const PlannedRun& run : plan.runs) {
    const auto& cost = costs[run.row];
    if (!cost) continue;
    flops += cost->flops;
    seconds.push_back(cost->seconds);
    if (!run.finished) unfinished.push_back(cost->seconds);
  }
  jobs = std::min(jobs, std::ssize(plan.runs));
  std::cout << counted(std::ssize(plan.runs), "run");
  if (flops > 0) {
    std::cout << format(", %.2g FLOPs, ", flops) << duration_text(makespan(seconds, jobs))
              << " with " << jobs << " at a time";
  }
  std::cout << ", in " << plan.directory.string() << "\n";
  const auto finished = std::ranges::count(plan.runs, true, &PlannedRun::finished);
  if (finished > 0) {
    std::cout << "(" << finished << " of the runs " << (finished == 1 ? "has" : "have") << " ended";
    if (flops > 0) std::cout << "; the others take " << duration_text(makespan(unfinished, jobs));
    std::cout << ")\n";
  }
  if (plan.file.paper_vocabulary > 0) {
    std::cout << "(parameters with a vocabulary of " << plan.file.paper_vocabulary
              << ", the sweep's paper_vocabulary)\n";
  }
}

const PlannedRow& first_selected(const SweepPlan& plan) {
  return *std::ranges::find_if(plan.rows, &PlannedRow::selected);
}

// Trains the first selected row (`attn bench step`, in a process of its own). After a stop signal
// (catch_stop_signals) the result has no meaning.
StepBenchmark measure_first_row(const SweepPlan& plan, const SweepMachine& machine,
                                double seconds) {
  const ScratchDirectory scratch("attn-dry-run");  // for config and encoded text
  const fs::path config = scratch.path() / "config.json", output = scratch.path() / "output";
  const PlannedRow& row = first_selected(plan);
  Experiment experiment = row.experiment;
  experiment.data.cache = (scratch.path() / "cache").string();
  write_file_atomically(config, write_config(experiment).dump());
  const int64_t threads = std::max<int64_t>(machine.cores / std::max<int64_t>(machine.jobs, 1), 1);
  const ProgressLine progress({.what = "measuring " + row.name, .unit = ""});
  const ProcessEnd end = wait_or_kill(
      start_process({.arguments = {program_path().string(), "--device", machine.device, "--threads",
                                   std::to_string(threads), "bench", "step", config.string(),
                                   "--json", "--seconds", std::to_string(seconds), "--vocabulary",
                                   std::to_string(plan.file.paper_vocabulary)},
                     .environment = {},
                     .output = output}));
  if (stop_requested()) return {};
  const std::string text = read_file(output);
  const size_t begin = text.find('{');
  if (end.exit_code != 0 || begin == std::string::npos) {
    throw DataError("row " + row.name + " was not measured: " + describe(end) + ": " +
                    text.substr(0, text.find_last_not_of('\n') + 1));
  }
  StepBenchmark result;
  read_config(result, parse_json(text.substr(begin), "bench step"));
  return result;
}

// Of the selected rows; `measured`: the experiment of the benchmark.
std::vector<std::optional<RowCost>> row_costs(const SweepPlan& plan, const Experiment& measured,
                                              const StepBenchmark& base) {
  std::vector<std::optional<RowCost>> costs(plan.rows.size());
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    if (plan.rows[i].selected) costs[i] = scaled_cost(plan.rows[i].experiment, measured, base);
  }
  return costs;
}

int64_t fitting_jobs(const SweepPlan& plan, const std::vector<std::optional<RowCost>>& costs,
                     double device_memory, const SweepMachine& machine) {
  double largest = 0.0;
  for (const auto& cost : costs) largest = std::max(largest, cost ? cost->memory : 0.0);
  return std::min(jobs_that_fit(device_memory, largest, machine.gpus, machine.cores),
                  static_cast<int64_t>(plan.runs.size()));
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
    const SearchConfig search = evaluator.search_over(experiment.search);
    const double passes =
        evaluator.searches() ? static_cast<double>(search.hypotheses()) : kLossPasses;
    // On schedule and after the last update; what else the run yields, or without a schedule, once.
    const int64_t every = evaluator.every, steps = experiment.train.steps;
    const int64_t scheduled = every > 0 ? (steps + every - 1) / every : 0;
    const int64_t other = experiment.train.average_last + experiment.train.patience;
    const int64_t times = scheduled + (every == 0 || other > 0 ? 1 : 0);
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
  const auto fixed = [](const Experiment& of, int64_t parameters) {
    return static_cast<double>(parameters * of.train.bytes_per_parameter());
  };
  const double moving = std::max(base.memory - fixed(measured, base.parameters), 0.0);
  cost.memory = fixed(row, cost.parameters) + moving * std::sqrt(ratio);
  return cost;
}

int64_t jobs_that_fit(double device_memory, double largest, int64_t gpus, int64_t cores) {
  constexpr double kContext = 1e9, kUsable = 0.9;  // bytes of a process; a share of the memory
  constexpr double kMost = 16;
  const double fit = std::min(kUsable * device_memory / (largest + kContext), kMost);
  return std::max(gpus, std::min(gpus * static_cast<int64_t>(fit), cores));
}

int64_t jobs_on_gpus(const SweepPlan& plan, const SweepMachine& machine, double seconds) {
  int64_t jobs = machine.gpus;
  try {
    const StepBenchmark base = measure_first_row(plan, machine, seconds);
    const auto costs = row_costs(plan, first_selected(plan).experiment, base);
    jobs = fitting_jobs(plan, costs, base.device_memory, machine);
  } catch (const DataError& error) {  // which the row's run will say, too
    std::cerr << error.what() << "\n";
  }
  std::cerr << counted(jobs, "run") << " at a time, by memory and cores (--jobs)\n";
  return jobs;
}

void check_parameters(const SweepPlan& plan) {
  std::string list;
  for (const PlannedRow& row : plan.rows) {
    if (!disagrees(row, plan.file.paper_vocabulary)) continue;
    list += list.empty() ? "" : ", ";
    list += row.name + format(" (%.1f million, paper %.0f)",
                              millions_at(row, plan.file.paper_vocabulary), row.paper.params_m);
  }
  if (list.empty()) return;
  throw ConfigError(plan.source + ": parameters differ from the paper's: " + list +
                    "; correct the row, or explain it in paper.params_note");
}

void dry_run(const SweepPlan& plan, const std::optional<SweepPlan>& trials,
             const SweepMachine& machine, std::optional<double> seconds) {
  std::vector<std::optional<RowCost>> costs(plan.rows.size());
  std::vector<std::optional<RowCost>> trial_costs(trials ? trials->rows.size() : 0);
  std::string note;
  int64_t jobs = seconds ? machine.jobs : 1;
  if (seconds) {
    const StepBenchmark base = measure_first_row(plan, machine, *seconds);
    if (stop_requested()) return;
    const PlannedRow& first = first_selected(plan);
    costs = row_costs(plan, first.experiment, base);
    if (trials) trial_costs = row_costs(*trials, first.experiment, base);
    if (jobs == 0) jobs = fitting_jobs(plan, costs, base.device_memory, machine);
    note = "(times and memory: " + first.name + " alone on its threads for " +
           format("%g", *seconds) + " s, the other rows by their FLOPs" +
           (base.real_data ? ")\n" : "; on synthetic pairs, since the training text is missing)\n");
  }
  if (trials) {
    std::cout << "tuning, " << trials->rows.size() / plan.rows.size() << " trials of each row: ";
    print_totals(*trials, trial_costs, jobs);
    std::cout << "then, and again for each row with settings of its own:\n";
  }
  print_rows(plan, costs);
  print_totals(plan, costs, jobs);
  std::cout << note;
  check_parameters(plan);
}

}  // namespace attn
