#include <algorithm>

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

bool changes(const RowRecord& row, std::string_view path) {
  return std::ranges::count(row.changed, path) > 0;
}

std::vector<Option> options_of(const SweepResults& results) {
  std::vector<Option> options;
  std::ranges::copy_if(kOptions, std::back_inserter(options), [&](const Option& option) {
    return std::ranges::any_of(results.rows, [&](auto& row) { return changes(row, option.path); });
  });
  return options;
}

// Changed options without a column: "position learned".
std::string other_options(const RowRecord& row) {
  std::string text;
  for (const std::string& path : row.changed) {
    if (path == "seed" || std::ranges::count(kOptions, path, &Option::path) > 0) continue;
    text.append(text.empty() ? "" : ", ").append(path.substr(path.find('.') + 1));
    text.append(" ").append(option_value(row, path));
  }
  return text;
}

// State of the runs that have not finished or not been started.
std::string state_of(const RowRecord& row) {
  if (row.runs.empty()) return "not run";
  std::vector<std::string> states;
  for (const RunRecord& run : row.runs) {
    if (!run.is_finished()) states.push_back("seed " + std::to_string(run.seed) + " " + run.status);
  }
  if (row.missing > 0) {
    states.push_back(
        format("%zu of %zu seeds not run", row.missing, row.missing + row.runs.size()));
  }
  return joined(states, ", ");
}

std::vector<MetricFacts> evaluated(const SweepResults& results) {
  std::vector<MetricFacts> metrics(kMetrics.begin(), kMetrics.end());
  std::erase_if(metrics,
                [&](const auto& facts) { return results.evaluators[facts.metric].empty(); });
  return metrics;
}

std::string interval_text(const Interval& interval) {
  return "[" + signed_text(interval.low) + ", " + signed_text(interval.high) + "]";
}

// A number of a value, if there is one.
template <class Value>
std::optional<double> part(const std::optional<Value>& value, double Value::*number) {
  return value ? std::optional((*value).*number) : std::nullopt;
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

  // The last columns, after the metrics. `exact`: all digits of the parameters.
  void end(bool exact) {
    add("params_m", "params ×10⁶", [&](const RowRecord& row) {
      const double millions = row.mean([](const RunResult& run) { return run.parameters; }) / 1e6;
      return if_known(millions, exact ? decimal(millions, 6) : significant(millions, 3));
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
      add_metric(facts, "_p", " p", [](auto& of) { return if_any(of.p_value, p_text); });
    }
    if (!any_in_paper(facts.metric)) return;
    add_paper(facts);
    add_metric(facts, "_paper_difference", " paper Δ", [&](const Difference& of) {
      return if_any(of.paper, [&](double v) { return signed_text(v, facts.paper_decimals); });
    });
    add_metric(facts, "_verdict", " sign", std::mem_fn(&Difference::verdict), true);
  }

  Table rounded(bool for_paper) {
    begin(false);
    for (const MetricFacts& facts : evaluated(results)) {
      add_means(facts, for_paper);
      if (!for_paper) add_differences(facts);
      if (for_paper && any_in_paper(facts.metric)) add_paper(facts);
    }
    end(/*exact=*/false);
    return std::move(table);
  }

  // For CSV: numbers alone.
  void add_numbers(const MetricFacts& facts) {
    const auto add_mean = [&](const char* key, auto text) {
      table.add(facts.key + std::string(key), "",
                [&](size_t i) { return if_any(comparisons[i].means[facts.metric], text); });
    };
    add_mean("_mean", [](const SeedMean& of) { return full_text(of.mean); });
    add_mean("_deviation", [](const SeedMean& of) { return if_any(of.deviation, full_text); });
    add_mean("_seeds", [](const SeedMean& of) { return std::to_string(of.seeds); });
    const auto add_number = [&](const char* key, auto number) {
      add_metric(facts, key, "", [&](auto& of) { return if_any(number(of), full_text); });
    };
    add_number("_difference", [](const auto& of) { return of.ours; });
    add_number("_interval_low", [](auto& of) { return part(of.interval(), &Interval::low); });
    add_number("_interval_high", [](auto& of) { return part(of.interval(), &Interval::high); });
    add_number("_degrees", [](auto& of) { return part(of.test, &SeedTest::degrees_of_freedom); });
    add_number("_p_seeds", [](const auto& of) { return part(of.test, &SeedTest::p_value); });
    add_number("_p_holm", [](const auto& of) { return of.holm; });
    if (facts.bootstrap)
      add_number("_p_joint", [](auto& of) { return part(of.joint, &JointDifference::p_value); });
    add_number("_p", [](const Difference& of) { return of.p_value; });
    const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
    add_metric(facts, "_significant", "",
               [&](const auto& of) { return of.p_value ? yes(of.significant) : ""; });
    add_metric(facts, "_unstable", "", [&](const auto& of) { return yes(of.unstable); });
    if (!any_in_paper(facts.metric)) return;
    add_paper(facts);
    add_metric(facts, "_paper_difference", "", [&](const Difference& of) {
      return if_any(of.paper, [&](double v) { return format("%.*f", facts.paper_decimals, v); });
    });
    add_metric(facts, "_verdict", "", std::mem_fn(&Difference::verdict));
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
  rows.end(/*exact=*/true);
  return std::move(rows.table);
}

}  // namespace attn
