#include "app/sweep/dry_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "app/experiment/progress_line.h"
#include "app/experiment/resume.h"
#include "app/machine/signals.h"
#include "app/sweep/collection.h"
#include "base/error.h"
#include "base/format.h"
#include "model/size.h"

namespace attn {
namespace {

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
  const auto values = values_by_path(write_config(row.experiment));
  std::string text;
  for (const std::string& path : row.changed) {
    const auto value = values.find(path);
    text += text.empty() ? "" : "  ";
    text += path;
    if (value != values.end() && value->second.size() <= kMaxValueLength)
      text += "=" + value->second;
  }
  return text.empty() ? "-" : text;
}

std::string params_text(const PlannedRow& row, int64_t vocabulary,
                        const std::optional<RowCost>& cost) {
  if (vocabulary > 0) return format("%.1f", millions_at(row, vocabulary));
  if (cost) return format("%.3g", static_cast<double>(cost->parameters) / 1e6);
  // Only the treebank has the number of a parser's target symbols.
  if (row.experiment.data.task == Task::parsing) return "?";
  return format("%.3g", millions_at(row, row.experiment.data.vocab_size));
}

// One line of the table.
void print_row(const PlannedRow& row, int name_width, int64_t vocabulary,
               const std::optional<RowCost>& cost) {
  std::string flops = "?", time = "?", memory = "?";
  if (cost) {
    flops = format("%.2g", cost->flops);
    time = duration_text(cost->seconds);
    memory = format("%.1f GB", cost->memory / 1e9);
  }
  const std::string paper = row.paper.params_m > 0 ? format("%.0f", row.paper.params_m) : "";
  std::printf("%-*s %9s %6s %10s %12s %9s  %s%s\n", name_width, row.name.c_str(),
              params_text(row, vocabulary, cost).c_str(), paper.c_str(), flops.c_str(),
              time.c_str(), memory.c_str(), differences(row).c_str(),
              row.paper.params_note.empty() ? "" : (" (" + row.paper.params_note + ")").c_str());
  std::fflush(stdout);
}

void print_rows(const SweepPlan& plan, const std::vector<std::optional<RowCost>>& costs) {
  size_t longest = 14;
  for (const PlannedRow& row : plan.rows) {
    if (row.selected) longest = std::max(longest, row.name.size());
  }
  const auto name_width = static_cast<int>(longest);
  std::printf("%-*s %9s %6s %10s %12s %9s  %s\n", name_width, "row", "params/M", "paper", "FLOPs",
              "time", "memory", "differs from the first row");
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    if (!plan.rows[i].selected) continue;
    print_row(plan.rows[i], name_width, plan.file.paper_vocabulary, costs[i]);
  }
}

void print_totals(const SweepPlan& plan, const std::vector<std::optional<RowCost>>& costs,
                  int64_t jobs, const std::filesystem::path& collection) {
  double flops = 0.0;
  int64_t finished = 0;
  std::vector<double> seconds, unfinished;
  for (const size_t i : start_order(plan)) {
    const PlannedRun& run = plan.runs[i];
    const bool has_result = finished_run(run, collection).has_value();
    finished += has_result ? 1 : 0;
    const auto& cost = costs[run.row];
    if (!cost) continue;
    flops += cost->flops;
    seconds.push_back(cost->seconds);
    if (!has_result) unfinished.push_back(cost->seconds);
  }
  std::printf("%zu runs", plan.runs.size());
  if (!seconds.empty()) {
    std::printf(", %.2g FLOPs, %s with %lld at a time", flops,
                duration_text(makespan({}, seconds, jobs)).c_str(), static_cast<long long>(jobs));
  }
  std::printf(", in %s\n", plan.directory.c_str());
  if (finished > 0) {
    std::printf("(%lld of the runs %s finished", static_cast<long long>(finished),
                finished == 1 ? "is" : "are");
    if (!seconds.empty()) {
      std::printf("; the others take %s", duration_text(makespan({}, unfinished, jobs)).c_str());
    }
    std::printf(")\n");
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

void dry_run(const SweepPlan& plan, const std::optional<CostOptions>& options,
             const std::filesystem::path& collection) {
  std::vector<std::optional<RowCost>> costs(plan.rows.size());
  std::string note;
  if (options) {
    const StepBenchmark base = measure_first_row(plan, *options);
    if (stop_requested()) return;
    const auto first = std::ranges::find_if(plan.rows, &PlannedRow::selected);
    for (size_t i = 0; i < plan.rows.size(); ++i) {
      if (!plan.rows[i].selected) continue;
      costs[i] = scaled_cost(plan.rows[i].experiment, first->experiment, base);
    }
    note = "(times and memory: " + first->name + " alone on its threads for " +
           format("%g", options->seconds) + " s, the other rows by their FLOPs" +
           (base.real_data ? ")" : "; on synthetic pairs, since the training text is missing)");
  }
  print_rows(plan, costs);
  print_totals(plan, costs, options ? options->jobs : 1, collection);
  if (!note.empty()) std::printf("%s\n", note.c_str());
  check_parameters(plan);
}

}  // namespace attn
