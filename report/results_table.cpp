#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/metric_columns.h"
#include "report/row_groups.h"
#include "report/table.h"

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

// Changed options without a column: "position learned".
std::string others(const RowRecord& row) {
  std::string text;
  for (const std::string& path : row.changed) {
    const bool column = std::any_of(std::begin(kOptions), std::end(kOptions),
                                    [&](const Option& option) { return path == option.path; });
    if (column || path == "seed") continue;
    text += text.empty() ? "" : ", ";
    text.append(option_name(path)).append(" ").append(option_value(row, path));
  }
  return text;
}

std::string optional_text(const std::optional<double>& value, int decimals) {
  return value ? number(*value, decimals) : "";
}

double mean_of(const RowRecord& row, double (*value)(const RunRecord&)) {
  double sum = 0.0;
  int64_t count = 0;
  for (const RunRecord& run : row.runs) {
    if (!run.is_finished()) continue;
    sum += value(run);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : NAN;
}

std::string if_known(double value, std::string text) {
  return std::isfinite(value) && value > 0 ? std::move(text) : std::string();
}

// "seeds 4, 5 not run"; "7 of 10 seeds not run" for more than a few.
std::string missing_text(const RowRecord& row) {
  constexpr size_t kMaxListed = 3;
  const std::vector<int64_t>& seeds = row.missing_seeds;
  if (seeds.empty()) return "";
  if (seeds.size() > kMaxListed) {
    return format("%zu of %zu seeds not run", seeds.size(), seeds.size() + row.runs.size());
  }
  std::string text = seeds.size() == 1 ? "seed " : "seeds ";
  for (const int64_t seed : seeds) {
    text += (seed == seeds.front() ? "" : ", ") + std::to_string(seed);
  }
  return text + " not run";
}

// State of the runs that have not finished or not been started.
std::string state_of(const RowRecord& row) {
  if (row.runs.empty()) return "not run";
  std::string text;
  for (const RunRecord& run : row.runs) {
    if (run.is_finished()) continue;
    text += text.empty() ? "" : ", ";
    text += "seed " + std::to_string(run.seed) + " " + run.status;
  }
  const std::string missing = missing_text(row);
  return text + (text.empty() || missing.empty() ? "" : ", ") + missing;
}

constexpr int kExactDecimals = 6;  // decimals of millions

// As few decimals, two or more, as tell different numbers of parameters apart.
int parameter_decimals(const std::vector<double>& millions) {
  for (int decimals = 2; decimals < kExactDecimals; ++decimals) {
    const bool told_apart = std::all_of(millions.begin(), millions.end(), [&](double a) {
      return std::all_of(millions.begin(), millions.end(), [&](double b) {
        return a == b || number(a, decimals) != number(b, decimals);
      });
    });
    if (told_apart) return decimals;
  }
  return kExactDecimals;
}

}  // namespace

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
  const bool baselines = has_baselines(results);
  const std::vector<MetricColumn> metrics = metric_columns(results, comparisons);
  Table table;
  table.columns.push_back({"row", "row", true, "", ""});
  using Shown = Table::Shown;
  for (const Shown shown : {Shown::pages, Shown::csv}) {
    for (const Option& option : options) {
      table.columns.push_back({option.path, option.title, false, "", option.path, shown});
    }
  }
  if (other) table.columns.push_back({"other", "other", true, "", "other options that differ"});
  if (baselines) table.columns.push_back({"baseline", "baseline", true, "", "of the differences"});
  for (const MetricColumn& metric : metrics) table.columns.push_back(metric.column);
  std::vector<double> millions;
  for (const RowRecord& row : results.rows) {
    const double value = mean_of(
        row, [](const RunRecord& run) { return static_cast<double>(run.parameters) / 1e6; });
    millions.push_back(std::isfinite(value) ? value : 0.0);
  }
  const int decimals = parameter_decimals(millions);
  const std::string group = paper ? "params ×10⁶" : "";
  const char* title = paper ? "ours" : "params ×10⁶";
  table.columns.push_back({"params_m", title, false, group, "trainable", Shown::pages});
  table.columns.push_back({"params_m", title, false, group, "", Shown::csv});
  if (paper) table.columns.push_back({"paper_params_m", "paper", false, group, "the paper's"});
  if (unfinished) {
    table.columns.push_back({"state", "state", true, "", "of runs that are unfinished or omitted"});
  }
  for (size_t i = 0; i < results.rows.size(); ++i) {
    const RowRecord& row = results.rows[i];
    std::vector<std::string> cells = {row.name};
    for (const Option& option : options) {
      cells.push_back(i == 0 || changes(row, option.path) ? option_value(row, option.path) : "");
    }
    for (const Option& option : options) cells.push_back(option_value(row, option.path));
    if (other) cells.push_back(others(row));
    if (baselines) cells.push_back(i == 0 ? "" : results.rows[row.baseline].name);
    for (const MetricColumn& column : metrics) cells.push_back(column.cell(row, comparisons[i]));
    for (const int shown : {decimals, kExactDecimals}) {
      cells.push_back(if_known(millions[i], number(millions[i], shown)));
    }
    if (paper) cells.push_back(optional_text(row.paper.params_m, 0));
    if (unfinished) cells.push_back(state_of(row));
    table.rows.push_back(std::move(cells));
    table.meanings.push_back(row_hover(row));
  }
  return table;
}

namespace {

// The published BLEU and FLOPs of a system, as the last cells of its row.
void add_published(const PaperRecord& paper, std::vector<std::string>& cells) {
  cells.push_back(optional_text(paper.scores[Metric::bleu], 2));
  cells.push_back(paper.flops ? format("%.1e", *paper.flops) : "");
}

}  // namespace

Table cost_table(const SweepResults& results) {
  Table table;
  table.columns = {{"row", "row", true, "", ""},
                   {"flops", "training FLOPs", false, "", "matrix products, closed form"},
                   {"minutes", "minutes", false, "", "of training, without evaluation"},
                   {"tokens_per_second", "target tokens/s", false, "", ""},
                   {"gflops_per_second", "GFLOP/s", false, "", ""},
                   {"peak_share", "of peak", false, "", "of this machine's peak matrix product"},
                   {"memory_gb", "memory, GB", false, "", "peak, resident or GPU"}};
  const bool published = !results.published.empty() ||
                         std::any_of(results.rows.begin(), results.rows.end(),
                                     [](const RowRecord& row) { return row.paper.flops; });
  const size_t own = table.columns.size();
  if (published) {
    table.columns.push_back({"paper_bleu", "BLEU", false, "published", "not on this data"});
    table.columns.push_back(
        {"paper_flops", "FLOPs", false, "published", "sustained FLOP/s × time"});
  }
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
    if (published) add_published(row.paper, table.rows.back());
  }
  for (const PublishedRecord& system : results.published) {
    std::vector<std::string> cells(own);
    cells.front() = system.name;
    add_published(system.paper, cells);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace attn
