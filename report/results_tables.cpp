#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "report/tables.h"

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
constexpr size_t kMaxValueLength = 40;  // bytes
constexpr int kExactDecimals = 6;       // of millions

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
std::string other_options(const RowRecord& row) {
  std::string text;
  for (const std::string& path : row.changed) {
    const bool column = std::any_of(std::begin(kOptions), std::end(kOptions),
                                    [&](const Option& option) { return path == option.path; });
    if (column || path == "seed") continue;
    text.append(text.empty() ? "" : ", ").append(path.substr(path.find('.') + 1));
    text.append(" ").append(option_value(row, path));
  }
  return text;
}

// "seeds 4, 5 not run"; "7 of 10 seeds not run" for more than a few.
std::string missing_text(const RowRecord& row) {
  constexpr size_t kMaxListed = 3;
  const std::vector<int64_t>& seeds = row.missing_seeds;
  if (seeds.empty()) return "";
  if (seeds.size() > kMaxListed) {
    return format("%zu of %zu seeds not run", seeds.size(), seeds.size() + row.runs.size());
  }
  std::vector<std::string> numbers;
  for (const int64_t seed : seeds) numbers.push_back(std::to_string(seed));
  return (seeds.size() == 1 ? "seed " : "seeds ") + joined(numbers, ", ") + " not run";
}

// State of the runs that have not finished or not been started.
std::string state_of(const RowRecord& row) {
  if (row.runs.empty()) return "not run";
  std::vector<std::string> states;
  for (const RunRecord& run : row.runs) {
    if (!run.is_finished()) states.push_back("seed " + std::to_string(run.seed) + " " + run.status);
  }
  if (!row.missing_seeds.empty()) states.push_back(missing_text(row));
  return joined(states, ", ");
}

// Millions of parameters, the mean of the finished runs; 0 without one.
double millions_of(const RowRecord& row) {
  const double mean = row.mean([](const RunResult& run) { return run.parameters; });
  return std::isnan(mean) ? 0.0 : mean / 1e6;
}

// As few decimals, two or more, as tell different numbers of parameters apart.
int parameter_decimals(const std::vector<RowRecord>& rows) {
  for (int decimals = 2; decimals < kExactDecimals; ++decimals) {
    const bool told_apart = std::all_of(rows.begin(), rows.end(), [&](const RowRecord& a) {
      return std::all_of(rows.begin(), rows.end(), [&](const RowRecord& b) {
        const double of_a = millions_of(a), of_b = millions_of(b);
        return of_a == of_b || decimal(of_a, decimals) != decimal(of_b, decimals);
      });
    });
    if (told_apart) return decimals;
  }
  return kExactDecimals;
}

std::vector<MetricFacts> evaluated(const SweepResults& results) {
  std::vector<MetricFacts> metrics(kMetrics.begin(), kMetrics.end());
  std::erase_if(metrics,
                [&](const auto& facts) { return results.evaluators[facts.metric].empty(); });
  return metrics;
}

// In the order of Verdict.
constexpr const char* kVerdictWords[] = {"", "agrees", "disagrees", "inconclusive"};

std::string verdict_word(const Difference& difference) {
  return kVerdictWords[static_cast<size_t>(difference.verdict)];
}

std::string interval_text(const Interval& interval) {
  return "[" + signed_text(interval.low) + ", " + signed_text(interval.high) + "]";
}

// Builds a table with one line per row of the sweep.
struct RowsTable {
  const SweepResults& results;
  std::span<const RowComparison> comparisons;
  Table table = {};

  // cell(row) is the text of a row.
  template <class Cell>
  void add(const std::string& key, const std::string& title, Cell cell, bool text = false) {
    table.add(
        key, title, [&](size_t i) { return cell(results.rows[i]); }, text);
  }

  // The same of a metric; cell(difference) is the text.
  template <class Cell>
  void add_metric(const MetricFacts& facts, const std::string& key, const std::string& title,
                  Cell cell, bool text = false) {
    table.add(
        facts.key + key, facts.title + title,
        [&](size_t i) { return cell(comparisons[i].differences[facts.metric]); }, text);
  }

  template <class Has>
  bool any_row(Has has) const {
    return std::any_of(results.rows.begin(), results.rows.end(), has);
  }

  bool any_in_paper(Metric metric) const {
    return any_row([&](const RowRecord& row) { return row.paper.scores[metric] > 0; });
  }

  // The first columns, up to the metrics. `all`: also the values that a row does not change.
  void begin(bool all) {
    table.rows.resize(results.rows.size());
    add(
        "row", "row", [](const RowRecord& row) { return row.name; }, true);
    const RowRecord* first = results.rows.empty() ? nullptr : &results.rows.front();
    for (const Option& option : options_of(results)) {
      add(option.path, option.title, [&](const RowRecord& row) {
        const bool shown = all || &row == first || changes(row, option.path);
        return shown ? option_value(row, option.path) : std::string();
      });
    }
    if (any_row([](const RowRecord& row) { return !other_options(row).empty(); })) {
      add("other", "other", other_options, true);
    }
    if (any_row([](const RowRecord& row) { return row.baseline != 0; })) {
      const auto baseline = [&](const RowRecord& row) {
        return &row == first ? std::string() : results.rows[row.baseline].name;
      };
      add("baseline", "baseline", baseline, true);
    }
  }

  void add_means(const MetricFacts& facts, bool stars) {
    table.add(facts.key, facts.title, [&](size_t i) {
      const Difference& difference = comparisons[i].differences[facts.metric];
      const char* star = stars && difference.significant ? " *" : "";
      return if_any(comparisons[i].means[facts.metric], [&](const SeedMean& mean) {
        return mean_text(mean) + (difference.unstable ? " ‡" : "") + star;
      });
    });
  }

  void add_paper(const MetricFacts& facts) {
    add(facts.key + std::string("_paper"), facts.title + std::string(" paper"),
        [&](const RowRecord& row) {
          const double score = row.paper.scores[facts.metric];
          return if_known(score, decimal(score, facts.paper_decimals));
        });
  }

  // The last columns, after the metrics.
  void end(int decimals) {
    add("params_m", "params ×10⁶", [&](const RowRecord& row) {
      return if_known(millions_of(row), decimal(millions_of(row), decimals));
    });
    if (any_row([](const RowRecord& row) { return row.paper.params_m > 0; })) {
      add("paper_params_m", "params paper", [](const RowRecord& row) {
        return if_known(row.paper.params_m, decimal(row.paper.params_m, 0));
      });
    }
    if (any_row([](const RowRecord& row) { return !state_of(row).empty(); })) {
      add("state", "state", state_of, true);
    }
  }

  void add_differences(const MetricFacts& facts) {
    add_metric(facts, "_difference", " Δ", [](const Difference& of) {
      return if_any(of.ours, [](double value) { return signed_text(value); }) +
             (of.significant ? " *" : "");
    });
    const bool tested = std::ranges::any_of(comparisons, [&](const RowComparison& row) {
      return row.differences[facts.metric].interval().has_value();
    });
    if (tested) {
      add_metric(facts, "_interval", " 95 % interval",
                 [](const Difference& of) { return if_any(of.interval(), interval_text); });
      add_metric(facts, "_p", " p",
                 [](const Difference& of) { return if_any(of.p_value, p_text); });
    }
    if (!any_in_paper(facts.metric)) return;
    add_paper(facts);
    add_metric(facts, "_paper_difference", " paper Δ", [&](const Difference& of) {
      return if_any(of.paper, [&](double v) { return signed_text(v, facts.paper_decimals); });
    });
    add_metric(facts, "_verdict", " sign", verdict_word, true);
  }

  Table rounded(bool for_paper) {
    begin(false);
    for (const MetricFacts& facts : evaluated(results)) {
      add_means(facts, for_paper);
      if (!for_paper) add_differences(facts);
      if (for_paper && any_in_paper(facts.metric)) add_paper(facts);
    }
    end(parameter_decimals(results.rows));
    return std::move(table);
  }

  // For CSV: numbers alone.
  void add_numbers(const MetricFacts& facts) {
    const auto add_mean = [&](const char* key, auto number) {
      table.add(facts.key + std::string(key), "", [&](size_t i) {
        const auto& mean = comparisons[i].means[facts.metric];
        return mean ? if_any(number(*mean), full_text) : std::string();
      });
    };
    add_mean("_mean", [](const SeedMean& of) { return std::optional(of.mean); });
    add_mean("_deviation", [](const SeedMean& of) { return of.deviation; });
    add_mean("_seeds",
             [](const SeedMean& of) { return std::optional(static_cast<double>(of.seeds)); });
    const auto add_number = [&](const char* key, auto number) {
      add_metric(facts, key, "",
                 [&](const Difference& of) { return if_any(number(of), full_text); });
    };
    using Number = std::optional<double>;
    add_number("_difference", [](const Difference& of) { return of.ours; });
    add_number("_interval_low", [](const Difference& of) {
      return of.interval() ? Number(of.interval()->low) : std::nullopt;
    });
    add_number("_interval_high", [](const Difference& of) {
      return of.interval() ? Number(of.interval()->high) : std::nullopt;
    });
    add_number("_degrees", [](const Difference& of) {
      return of.test ? Number(of.test->degrees_of_freedom) : std::nullopt;
    });
    add_number("_p_seeds", [](const Difference& of) {
      return of.test ? Number(of.test->p_value) : std::nullopt;
    });
    add_number("_p_holm", [](const Difference& of) { return of.holm; });
    if (facts.bootstrap) {
      add_number("_p_joint", [](const Difference& of) {
        return of.joint ? Number(of.joint->p_value) : std::nullopt;
      });
    }
    add_number("_p", [](const Difference& of) { return of.p_value; });
    const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
    add_metric(facts, "_significant", "", [&](const auto& of) { return yes(of.significant); });
    add_metric(facts, "_unstable", "", [&](const auto& of) { return yes(of.unstable); });
    if (!any_in_paper(facts.metric)) return;
    add_paper(facts);
    add_metric(facts, "_paper_difference", "", [&](const Difference& of) {
      return if_any(of.paper, [&](double v) { return format("%.*f", facts.paper_decimals, v); });
    });
    add_metric(facts, "_verdict", "", verdict_word);
  }
};

}  // namespace

std::string option_value(const RowRecord& row, const std::string& path) {
  const auto found = row.values.find(path);
  std::string text = found == row.values.end() ? "" : found->second;
  if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
  if (text.size() <= kMaxValueLength) return text;
  size_t end = kMaxValueLength - 3;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole characters
  return text.substr(0, end) + "…";
}

Table results_table(const SweepResults& results, std::span<const RowComparison> comparisons) {
  return RowsTable{results, comparisons}.rounded(false);
}

Table paper_table(const SweepResults& results, std::span<const RowComparison> comparisons) {
  return RowsTable{results, comparisons}.rounded(true);
}

Table rows_table(const SweepResults& results, std::span<const RowComparison> comparisons) {
  RowsTable rows{results, comparisons};
  rows.begin(true);
  for (const MetricFacts& facts : evaluated(results)) rows.add_numbers(facts);
  rows.end(kExactDecimals);
  return std::move(rows.table);
}

}  // namespace attn
