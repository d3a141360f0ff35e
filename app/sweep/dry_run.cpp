#include "app/sweep/dry_run.h"

#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>

#include "app/experiment/head_widths.h"
#include "app/experiment/progress.h"
#include "app/experiment/progress_line.h"
#include "app/sweep/processes.h"
#include "app/sweep/row_costs.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "model/size.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// The paper rounds parameters to millions.
constexpr double kRounding = 0.6;

// A temporary folder for configs and encoded texts.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "attn-dry-run-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw DataError(name + ": cannot be created");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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

std::optional<StepBenchmark> measure(const PlannedRow& row, const SweepPlan& plan,
                                     const DryRunOptions& options, const fs::path& scratch,
                                     int64_t batch_tokens, std::string& why) {
  const fs::path config = scratch / "config.json", output = scratch / "out.json";
  write_file_atomically(config, write_config(row.experiment).dump());
  fs::remove(output);
  const ProcessEnd end = run_process(
      {.arguments = {program_path().string(), "--device", options.device, "--threads",
                     std::to_string(std::max<int64_t>(options.threads / options.jobs, 1)), "bench",
                     "step", config.string(), "--json", "--seconds",
                     std::to_string(options.seconds), "--cache", (scratch / "cache").string(),
                     "--batch-tokens", std::to_string(batch_tokens), "--vocabulary",
                     std::to_string(plan.file.paper_vocabulary)},
       .environment = {},
       .output = output});
  const std::string text = read_file(output);
  const size_t begin = text.find('{');
  if (end.exit_code != 0 || begin == std::string::npos) {
    why = describe(end) + ": " + text.substr(0, text.find_last_not_of('\n') + 1);
    return {};
  }
  StepBenchmark result;
  Json json = parse_json(text.substr(begin), output.string());
  json.erase("peak_flops");
  read_config(result, json);
  return result;
}

std::string params_text(const PlannedRow& row, int64_t vocabulary,
                        const std::optional<RowCost>& cost) {
  std::string ours = "?";
  if (vocabulary > 0) {
    ours = format("%.1f", millions_at(row, vocabulary));
  } else if (cost) {
    ours = format("%.3g", static_cast<double>(cost->step.parameters) / 1e6);
  } else {
    ours = format("%.3g", millions_at(row, row.experiment.data.vocab_size));
  }
  return ours;
}

// One line of the table.
void print_row(const PlannedRow& row, int64_t vocabulary, const std::optional<RowCost>& cost) {
  const double steps = static_cast<double>(row.experiment.train.steps);
  std::string flops = "?", time = "?", memory = "?";
  if (cost) {
    flops = format("%.2g", steps * cost->step.flops_per_update);
    const std::string mark = cost->predicted ? "~" : "";
    time = mark + duration_text(steps * cost->step.seconds_per_update);
    memory = mark + format("%.1f GB", cost->step.memory / 1e9);
  }
  const std::string paper = row.paper.params_m > 0 ? format("%.0f", row.paper.params_m) : "";
  std::printf("%-14s %9s %6s %10s %12s %9s  %s%s\n", row.name.c_str(),
              params_text(row, vocabulary, cost).c_str(), paper.c_str(), flops.c_str(),
              time.c_str(), memory.c_str(), differences(row).c_str(),
              row.paper.params_note.empty() ? "" : (" (" + row.paper.params_note + ")").c_str());
  std::fflush(stdout);
}

void print_head_widths(const SweepPlan& plan) {
  for (const PlannedRow& row : plan.rows) {
    const std::string note = row.selected ? head_width_note(row.experiment.model) : "";
    if (!note.empty()) std::printf("(row %s: %s)\n", row.name.c_str(), note.c_str());
  }
  std::fflush(stdout);
}

// Totals over all runs.
struct Totals {
  double seconds = 0.0, flops = 0.0;
  bool invented = false;  ///< some text is missing
  std::string measured;   ///< names of rows
  bool predicted = false;

  void add(const PlannedRow& row, int64_t runs, const RowCost& cost) {
    const auto updates = static_cast<double>(row.experiment.train.steps * runs);
    seconds += updates * cost.step.seconds_per_update;
    flops += updates * cost.step.flops_per_update;
    invented |= !cost.step.real_data;
    predicted |= cost.predicted;
    if (!cost.predicted) measured += (measured.empty() ? "" : ", ") + row.name;
  }
};

void print_totals(const SweepPlan& plan, const DryRunOptions& options, const Totals& totals) {
  std::printf("%zu runs", plan.runs.size());
  if (options.measure) {
    std::printf(", %.2g FLOPs, %s of training with %lld at a time", totals.flops,
                duration_text(totals.seconds / static_cast<double>(options.jobs)).c_str(),
                static_cast<long long>(options.jobs));
  }
  std::printf(", in %s\n", plan.directory.c_str());
  if (totals.predicted) {
    std::printf(
        "(~: predicted from FLOPs and the measured rows: %s; --budget 0 measures "
        "all)\n",
        totals.measured.c_str());
  }
  if (totals.invented) {
    std::printf("(the training text is missing: estimated from pairs of 10 to 40 tokens)\n");
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

// The costs of the selected rows, in the plan's order; std::nullopt for the others.
std::vector<std::optional<RowCost>> costs_of(const SweepPlan& plan, const DryRunOptions& options,
                                             std::string& failures) {
  const Scratch scratch;
  std::vector<size_t> rows;
  std::vector<double> flops;
  std::vector<int64_t> parameters;
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRow& row = plan.rows[i];
    if (!row.selected) continue;
    const int64_t vocabulary = plan.file.paper_vocabulary > 0 ? plan.file.paper_vocabulary
                                                              : row.experiment.data.vocab_size;
    rows.push_back(i);
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
  for (size_t i = 0; i < rows.size(); ++i) out[rows[i]] = std::move(costs[i]);
  return out;
}

}  // namespace

void dry_run(const SweepPlan& plan, const DryRunOptions& options) {
  Totals totals;
  std::string failures;
  std::vector<std::optional<RowCost>> costs(plan.rows.size());
  if (options.measure) costs = costs_of(plan, options, failures);
  std::printf("%-14s %9s %6s %10s %12s %9s  %s\n", "row", "params/M", "paper", "FLOPs", "time",
              "memory", "differs from the first row");
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRow& row = plan.rows[i];
    if (!row.selected) continue;
    if (costs[i]) {
      const auto runs = std::count_if(plan.runs.begin(), plan.runs.end(),
                                      [&](const PlannedRun& run) { return run.row == i; });
      totals.add(row, runs, *costs[i]);
    }
    print_row(row, plan.file.paper_vocabulary, costs[i]);
  }
  print_totals(plan, options, totals);
  print_head_widths(plan);
  if (!failures.empty()) throw DataError("not measured: " + failures);
  check_parameters(plan);
}

}  // namespace attn
