#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/format.h"
#include "report/tables.h"

namespace attn {
namespace {

std::string fact_of(const RunRecord& run, const std::string& key) {
  for (const auto& [name, value] : run.provenance) {
    if (name == key) return value;
  }
  return "";
}

// The processor on which a run trained, or the GPU; empty: unknown.
std::string machine_of(const RunRecord& run) {
  const std::string gpu = fact_of(run, "gpu");
  return gpu.empty() ? fact_of(run, "processor") : gpu;
}

// The published BLEU and FLOPs of a system, as the last cells of its row.
void add_published(const PaperResults& paper, std::vector<std::string>& cells) {
  const double bleu = paper.scores[Metric::bleu];
  cells.push_back(if_known(bleu, decimal(bleu, kScoreDecimals)));
  cells.push_back(if_known(paper.flops, format("%.1e", paper.flops)));
}

std::vector<std::string> cost_cells(const RowRecord& row) {
  const double flops = row.mean([](const RunResult& run) { return run.flops; });
  const double memory = row.mean([](const RunResult& run) { return run.peak_memory; });
  std::set<std::string> machines;
  for (const RunRecord& run : row.runs) {
    if (run.is_finished()) machines.insert(machine_of(run));
  }
  std::vector<std::string> cells = {row.name, if_known(flops, format("%.2e", flops))};
  if (machines.size() < 2) {
    const double seconds = row.mean([](const RunResult& run) { return run.seconds; });
    const double speed = row.mean([](const RunResult& run) { return run.tokens_per_second; });
    const double rate = row.mean([](const RunResult& run) { return run.flops / run.seconds; });
    const double share =
        row.mean([](const RunResult& run) { return run.flops / run.seconds / run.peak_flops; });
    cells.push_back(if_known(seconds, decimal(seconds / 60, 1)));
    cells.push_back(if_known(speed, decimal(speed, 0)));
    cells.push_back(if_known(rate, decimal(rate / 1e9, 0)));
    cells.push_back(if_known(share, decimal(100 * share, 0) + " %"));
  } else {
    cells.resize(6);
  }
  cells.push_back(if_known(memory, decimal(memory / 1e9, 2)));
  cells.push_back(machines.size() > 1 ? std::to_string(machines.size()) + " kinds"
                                      : joined(machines, ", "));
  return cells;
}

}  // namespace

Table runs_table(const SweepResults& results) {
  std::vector<const RunRecord*> runs;
  std::vector<std::string> rows, facts;
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      runs.push_back(&run);
      rows.push_back(row.name);
      for (const auto& [key, value] : run.provenance) {
        if (std::find(facts.begin(), facts.end(), key) == facts.end()) facts.push_back(key);
      }
    }
  }
  Table table{.rows = std::vector<std::vector<std::string>>(runs.size())};
  const auto add = [&](const std::string& key, auto cell) {
    table.add(key, key, [&](size_t i) { return cell(*runs[i]); });
  };
  table.add("row", "row", [&](size_t i) { return rows[i]; });
  add("seed", [](const RunRecord& run) { return std::to_string(run.seed); });
  add("finished", [](const RunRecord& run) { return run.is_finished() ? "1" : "0"; });
  for (const MetricFacts& metric : kMetrics) {
    add(metric.key,
        [&](const RunRecord& run) { return if_any(run.scores[metric.metric], full_text); });
  }
  const auto add_number = [&](const char* key, auto RunResult::*number) {
    add(key, [&, number](const RunRecord& run) { return full_text(run.result.*number); });
  };
  add_number("parameters", &RunResult::parameters);
  add_number("target_tokens", &RunResult::target_tokens);
  add_number("seconds", &RunResult::seconds);
  add_number("tokens_per_second", &RunResult::tokens_per_second);
  add_number("flops", &RunResult::flops);
  add_number("peak_flops", &RunResult::peak_flops);
  add_number("peak_memory", &RunResult::peak_memory);
  for (const std::string& fact : facts) {
    add(fact, [&](const RunRecord& run) { return fact_of(run, fact); });
  }
  return table;
}

Table curves_table(const SweepResults& results) {
  Table table;
  for (const char* key : {"row", "seed", "step", "evaluator", "weights", "metric", "value"}) {
    table.columns.push_back({key, key});
  }
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      for (const CurvePoint& point : run.curve) {
        table.rows.push_back({row.name, std::to_string(run.seed), std::to_string(point.step),
                              point.evaluator, point.weights, point.metric,
                              full_text(point.value)});
      }
    }
  }
  return table;
}

Table cost_table(const SweepResults& results) {
  Table table;
  table.columns = {{"row", "row", true},
                   {"flops", "training FLOPs"},
                   {"minutes", "minutes"},
                   {"tokens_per_second", "target tokens/s"},
                   {"gflops_per_second", "GFLOP/s"},
                   {"peak_share", "of peak"},
                   {"memory_gb", "memory, GB"},
                   {"machine", "processor", true}};
  const size_t own = table.columns.size();
  const bool published = !results.published.empty() ||
                         std::any_of(results.rows.begin(), results.rows.end(),
                                     [](const RowRecord& row) { return row.paper.flops > 0; });
  if (published) table.columns.push_back({"paper_bleu", "published BLEU"});
  if (published) table.columns.push_back({"paper_flops", "published FLOPs"});
  for (const RowRecord& row : results.rows) {
    table.rows.push_back(cost_cells(row));
    if (published) add_published(row.paper, table.rows.back());
  }
  for (const PublishedSystem& system : results.published) {
    std::vector<std::string> cells(own);
    cells.front() = system.name;
    add_published(system.paper, cells);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table scores_table(const RunRecord& run) {
  Table table{.columns = {{"evaluator", "evaluator", true},
                          {"weights", "weights", true},
                          {"metric", "metric", true},
                          {"value", "value"},
                          {"step", "step"},
                          {"best", "best"},
                          {"best_step", "at step"}}};
  std::map<std::array<std::string, 3>, std::vector<CurvePoint>> curves;
  for (const CurvePoint& point : run.curve) {
    if (point.evaluator == kTrainingCurve) continue;
    curves[{point.evaluator, point.weights, point.metric}].push_back(point);
  }
  for (const auto& [name, curve] : curves) {
    const CurvePoint& last = curve.back();
    std::vector<std::string> cells = {last.evaluator, last.weights, last.metric,
                                      format("%.4g", last.value), std::to_string(last.step)};
    const auto facts = std::ranges::find(kMetrics, last.metric, &MetricFacts::key);
    if (facts != kMetrics.end()) {
      const auto best = std::min_element(curve.begin(), curve.end(), [&](auto& a, auto& b) {
        return facts->lower_is_better ? a.value < b.value : a.value > b.value;
      });
      cells[3] = decimal(last.value, kScoreDecimals);
      cells.push_back(decimal(best->value, kScoreDecimals));
      cells.push_back(std::to_string(best->step));
    }
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace attn
