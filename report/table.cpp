#include "report/table.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace attn {
namespace {

struct Option {
  const char* path;
  const char* title;
};
// The columns of Table 3.
constexpr Option kOptions[] = {{"model.layers", "N"},       {"model.d_model", "d_model"},
                               {"model.d_ff", "d_ff"},      {"model.heads", "h"},
                               {"model.d_k", "d_k"},        {"model.d_v", "d_v"},
                               {"model.dropout", "P_drop"}, {"train.label_smoothing", "ε_ls"},
                               {"train.steps", "steps"}};

std::string number(double value, int decimals) {
  return format("%.*f", decimals, value);
}

std::string full(double value) {
  return format("%.17g", value);
}

bool changes(const RowRecord& row, std::string_view path) {
  return std::find(row.changed.begin(), row.changed.end(), path) != row.changed.end();
}

std::vector<Option> options_of(const SweepResults& results) {
  std::vector<Option> options;
  for (const Option& option : kOptions) {
    const bool used = std::any_of(results.rows.begin(), results.rows.end(),
                                  [&](const RowRecord& row) { return changes(row, option.path); });
    if (used) options.push_back(option);
  }
  return options;
}

std::string value_of(const RowRecord& row, const std::string& path) {
  const auto found = row.values.find(path);
  std::string text = found == row.values.end() ? "" : found->second;
  if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return text.size() <= 40 ? text : text.substr(0, 37) + "…";
}

// Changed options without a column: "position learned".
std::string others(const RowRecord& row) {
  std::string text;
  for (const std::string& path : row.changed) {
    const bool column = std::any_of(std::begin(kOptions), std::end(kOptions),
                                    [&](const Option& option) { return path == option.path; });
    if (column || path == "seed") continue;
    text += text.empty() ? "" : ", ";
    text += path.substr(path.find('.') + 1) + " " + value_of(row, path);
  }
  return text;
}

std::string mean_text(const std::optional<SeedMean>& mean) {
  if (!mean) return "";
  std::string text = number(mean->mean, 2);
  if (mean->deviation) text += " ± " + number(*mean->deviation, 2);
  return text;
}

std::string difference_text(const Difference& difference) {
  if (!difference.ours) return "";
  return signed_number(*difference.ours, 2) + (difference.significant ? " *" : "");
}

std::string optional_text(const std::optional<double>& value, int decimals) {
  return value ? number(*value, decimals) : "";
}

std::string optional_signed(const std::optional<double>& value, int decimals) {
  return value ? signed_number(*value, decimals) : "";
}

double mean_of(const RowRecord& row, double (*figure)(const RunRecord&)) {
  double sum = 0.0;
  int64_t count = 0;
  for (const RunRecord& run : row.runs) {
    if (!run.finished) continue;
    sum += figure(run);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : NAN;
}

std::string if_known(double value, std::string text) {
  return std::isfinite(value) && value > 0 ? std::move(text) : std::string();
}

// State of unfinished runs.
std::string state_of(const RowRecord& row) {
  if (row.runs.empty()) return "not run";
  std::string text;
  for (const RunRecord& run : row.runs) {
    if (run.finished) continue;
    text += text.empty() ? "" : ", ";
    text += "seed " + std::to_string(run.seed) + " " + run.state;
  }
  return text;
}

// Whether the paper has this metric for some row.
bool in_paper(const SweepResults& results, Metric metric) {
  return std::any_of(results.rows.begin(), results.rows.end(),
                     [&](const RowRecord& row) { return row.paper.figures[metric].has_value(); });
}

void add_metric_columns(Table& table, const SweepResults& results) {
  for (const MetricFacts& facts : kMetrics) {
    const std::string& evaluator = results.evaluators[facts.metric];
    if (evaluator.empty()) continue;
    const std::string key = facts.key, group = std::string(facts.title) + " (" + evaluator + ")";
    table.columns.push_back(
        {key, facts.title, false, group, "mean over seeds ± standard deviation"});
    table.columns.push_back(
        {key + "_diff", "Δ", false, group, "difference from the first row; * significant"});
    if (facts.bootstrap) {
      table.columns.push_back(
          {key + "_p", "p", false, group, "paired bootstrap over sentences, 1000 resamples"});
    }
    if (!in_paper(results, facts.metric)) continue;
    table.columns.push_back({"paper_" + key, "paper", false, group, "the paper's figure"});
    table.columns.push_back({"paper_" + key + "_diff", "paper Δ", false, group,
                             "the paper's difference from its base"});
    table.columns.push_back({key + "_verdict", "sign", true, group,
                             "whether the difference agrees with the paper or is inconclusive"});
  }
}

void add_metric_cells(std::vector<std::string>& cells, const SweepResults& results,
                      const RowRecord& row, const RowComparison& comparison) {
  for (const MetricFacts& facts : kMetrics) {
    if (results.evaluators[facts.metric].empty()) continue;
    const Difference& difference = comparison.differences[facts.metric];
    cells.push_back(mean_text(comparison.means[facts.metric]));
    cells.push_back(difference_text(difference));
    if (facts.bootstrap) cells.push_back(optional_text(difference.p_value, 3));
    if (!in_paper(results, facts.metric)) continue;
    cells.push_back(optional_text(row.paper.figures[facts.metric], facts.paper_decimals));
    cells.push_back(optional_signed(difference.paper, facts.paper_decimals));
    cells.push_back(verdict_word(difference.verdict));
  }
}

}  // namespace

std::string signed_number(double value, int decimals) {
  const std::string digits = number(std::abs(value), decimals);
  if (digits.find_first_not_of("0.") == std::string::npos) return digits;
  return (value < 0 ? "−" : "+") + digits;
}

Table results_table(const SweepResults& results, std::span<const RowComparison> comparisons) {
  const std::vector<Option> options = options_of(results);
  const bool paper =
      std::any_of(results.rows.begin(), results.rows.end(),
                  [](const RowRecord& row) { return row.paper.params_m.has_value(); });
  bool other = false, unfinished = false;
  for (const RowRecord& row : results.rows) {
    other |= !others(row).empty();
    unfinished |= !state_of(row).empty();
  }
  Table table;
  table.columns.push_back({"row", "row", true, "", ""});
  for (const Option& option : options)
    table.columns.push_back({option.path, option.title, false, "", option.path});
  if (other) table.columns.push_back({"other", "other", true, "", "other options that differ"});
  add_metric_columns(table, results);
  const std::string group = paper ? "params ×10⁶" : "";
  table.columns.push_back({"params_m", paper ? "ours" : "params ×10⁶", false, group, "trainable"});
  if (paper) table.columns.push_back({"paper_params_m", "paper", false, group, "the paper's"});
  if (unfinished) table.columns.push_back({"state", "state", true, "", "state of unfinished runs"});
  for (size_t i = 0; i < results.rows.size(); ++i) {
    const RowRecord& row = results.rows[i];
    std::vector<std::string> cells = {row.name};
    for (const Option& option : options) {
      cells.push_back(i == 0 || changes(row, option.path) ? value_of(row, option.path) : "");
    }
    if (other) cells.push_back(others(row));
    add_metric_cells(cells, results, row, comparisons[i]);
    const double millions = mean_of(
        row, [](const RunRecord& run) { return static_cast<double>(run.parameters) / 1e6; });
    cells.push_back(if_known(millions, number(millions, 2)));
    if (paper) cells.push_back(optional_text(row.paper.params_m, 0));
    if (unfinished) cells.push_back(state_of(row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table cost_table(const SweepResults& results) {
  Table table;
  table.columns = {{"row", "row", true, "", ""},
                   {"flops", "training FLOPs", false, "", "matrix products, closed form"},
                   {"minutes", "minutes", false, "", "of training, without evaluation"},
                   {"tokens_per_second", "target tokens/s", false, "", ""},
                   {"gflops_per_second", "GFLOP/s", false, "", ""},
                   {"peak_share", "of peak", false, "", "of this machine's peak matrix product"},
                   {"memory_gb", "memory, GB", false, "", "peak, resident or GPU"}};
  for (const RowRecord& row : results.rows) {
    const double flops = mean_of(row, [](const RunRecord& run) { return run.flops; });
    const double seconds = mean_of(row, [](const RunRecord& run) { return run.seconds; });
    const double speed = mean_of(row, [](const RunRecord& run) { return run.tokens_per_second; });
    const double rate = mean_of(row, [](const RunRecord& run) { return run.flops / run.seconds; });
    const double share =
        mean_of(row, [](const RunRecord& run) { return run.flops / run.seconds / run.peak_flops; });
    const double memory =
        mean_of(row, [](const RunRecord& run) { return static_cast<double>(run.peak_memory); });
    table.rows.push_back({row.name, if_known(flops, format("%.2e", flops)),
                          if_known(seconds, number(seconds / 60, 1)),
                          if_known(speed, number(speed, 0)), if_known(rate, number(rate / 1e9, 0)),
                          if_known(share, number(100 * share, 0) + " %"),
                          if_known(memory, number(memory / 1e9, 2))});
  }
  return table;
}

Table provenance_table(const SweepResults& results) {
  Table table;
  table.columns.push_back({"run", "run", true, "", ""});
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      for (const auto& [key, value] : run.provenance) {
        const bool known = std::any_of(table.columns.begin(), table.columns.end(),
                                       [&](const auto& column) { return column.key == key; });
        if (!known) table.columns.push_back({key, key, true, "", ""});
      }
    }
  }
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      std::vector<std::string> cells = {run.name};
      cells.resize(table.columns.size());
      for (const auto& [key, value] : run.provenance) {
        for (size_t i = 1; i < cells.size(); ++i) {
          if (table.columns[i].key == key) cells[i] = value;
        }
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Table runs_table(const SweepResults& results) {
  Table table;
  const auto add_column = [&](const char* key) {
    table.columns.push_back({key, key, false, "", ""});
  };
  for (const char* key : {"row", "seed", "finished"}) add_column(key);
  for (const MetricFacts& facts : kMetrics) add_column(facts.key);
  for (const char* key : {"parameters", "target_tokens", "seconds", "tokens_per_second", "flops",
                          "peak_flops", "peak_memory"}) {
    add_column(key);
  }
  for (const RowRecord& row : results.rows) {
    for (const RunRecord& run : row.runs) {
      std::vector<std::string> cells = {row.name, std::to_string(run.seed),
                                        run.finished ? "1" : "0"};
      for (const MetricFacts& facts : kMetrics) {
        const std::optional<double>& figure = run.figures[facts.metric];
        cells.push_back(figure ? full(*figure) : "");
      }
      for (std::string cell : {std::to_string(run.parameters), std::to_string(run.target_tokens),
                               full(run.seconds), full(run.tokens_per_second), full(run.flops),
                               full(run.peak_flops), std::to_string(run.peak_memory)}) {
        cells.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

}  // namespace attn
