#include "report/metric_columns.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace attn {
namespace {

using Shown = Table::Shown;

std::string difference_text(const Difference& difference) {
  if (!difference.ours) return "";
  return signed_number(*difference.ours, kScoreDecimals) + (difference.significant ? " *" : "");
}

std::string interval_text(const Difference& difference) {
  if (!difference.test) return "";
  const auto& [low, high] = difference.test->interval;
  return format("[%s, %s]", signed_number(low, kScoreDecimals).c_str(),
                signed_number(high, kScoreDecimals).c_str());
}

std::string p_or_empty(const std::optional<double>& p_value) {
  return p_value ? p_text(*p_value) : "";
}

std::string in_full(const std::optional<double>& value) {
  return value ? format("%.17g", *value) : "";
}

bool any_in_paper(const SweepResults& results, Metric metric) {
  return std::any_of(results.rows.begin(), results.rows.end(),
                     [&](const RowRecord& row) { return row.paper.scores[metric].has_value(); });
}

// Whether any row has this test.
bool any_tested(std::span<const RowComparison> comparisons, Metric metric,
                std::optional<SeedTest> Difference::*test) {
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const RowComparison& row) {
    return (row.differences[metric].*test).has_value();
  });
}

// The columns of one metric.
class Columns {
 public:
  Columns(const MetricFacts& facts, const std::string& evaluator)
      : metric_(facts.metric),
        key_(facts.key),
        group_(std::string(facts.title) + " (" + evaluator + ")") {}

  // A column filled from a difference.
  template <class Cell>
  void add(const std::string& suffix, const char* title, const char* meaning, Cell cell,
           Shown shown = Shown::everywhere, bool text = false) {
    columns.push_back({{key_ + suffix, title, text, group_, meaning, shown},
                       [cell, metric = metric_](const RowRecord&, const RowComparison& row) {
                         return cell(row.differences[metric]);
                       }});
  }

  // A number of the test over seeds, in full.
  template <class Number>
  void add_number(const std::string& suffix, const char* meaning, Number number) {
    const auto cell = [number](const Difference& of) {
      return of.test ? in_full(number(*of.test)) : std::string();
    };
    add(suffix, "", meaning, cell, Shown::csv);
  }

  void add_means() {
    columns.push_back({{key_, group_.substr(0, group_.find(' ')), false, group_,
                        "mean over seeds ± standard deviation", Shown::pages},
                       [metric = metric_](const RowRecord&, const RowComparison& row) {
                         return mean_text(row.means[metric]);
                       }});
  }

  void add_tests(bool tested, bool welch) {
    add("_diff", "Δ", "difference from the baseline; * significant", difference_text, Shown::pages);
    if (!tested) return;
    add("_interval", "95 % interval", "confidence interval of the difference over seeds",
        interval_text, Shown::pages);
    add(
        "_p_seeds", "p (t test)", "Student's t over seeds, with the pooled variance of the rows",
        [](const Difference& of) { return of.test ? p_text(of.test->p_value) : ""; }, Shown::pages);
    add(
        "_p_holm", "p (Holm)", "p of the t test, adjusted for the rows of the table",
        [](const Difference& of) { return p_or_empty(of.holm); }, Shown::pages);
    if (!welch) return;
    add(
        "_p_welch", "p (Welch)", "Welch's t over the seeds of the two rows",
        [](const Difference& of) { return of.welch ? p_text(of.welch->p_value) : ""; },
        Shown::pages);
  }

  void add_bootstraps() {
    add(
        "_p", "p (bootstrap over sentences)", "paired bootstrap over sentences, 1000 resamples",
        [](const Difference& of) { return p_or_empty(of.p_sentences); }, Shown::pages);
    add(
        "_p_joint", "p (bootstrap over sentences and seeds)",
        "bootstrap over sentences and seeds, 1000 resamples",
        [](const Difference& of) { return of.joint ? p_text(of.joint->p_value) : ""; },
        Shown::pages);
  }

  void add_paper(int decimals) {
    columns.push_back({{"paper_" + key_, "paper", false, group_, "the paper's score"},
                       [metric = metric_, decimals](const RowRecord& row, const RowComparison&) {
                         const auto& score = row.paper.scores[metric];
                         return score ? format("%.*f", decimals, *score) : "";
                       }});
    add(
        "_diff", "paper Δ", "the paper's difference from its baseline",
        [decimals](const auto& of) { return of.paper ? signed_number(*of.paper, decimals) : ""; },
        Shown::pages);
    add(
        "", "", "",
        [decimals](const auto& of) { return of.paper ? format("%.*f", decimals, *of.paper) : ""; },
        Shown::csv);
    columns.back().column.key = "paper_" + key_ + "_difference";
    add(
        "_verdict", "sign", "whether the difference agrees with the paper or is inconclusive",
        [](const Difference& of) { return verdict_word(of.verdict); }, Shown::everywhere, true);
  }

  void add_full(bool bootstrap) {
    const auto add_mean = [&](const char* suffix, auto number) {
      columns.push_back({{key_ + suffix, "", false, group_, "", Shown::csv},
                         [metric = metric_, number](const RowRecord&, const RowComparison& row) {
                           const auto& mean = row.means[metric];
                           return mean ? in_full(number(*mean)) : std::string();
                         }});
    };
    add_mean("_mean", [](const SeedMean& of) { return std::optional(of.mean); });
    add_mean("_deviation", [](const SeedMean& of) { return of.deviation; });
    add_mean("_seeds",
             [](const SeedMean& of) { return std::optional(static_cast<double>(of.seeds)); });
    add(
        "_difference", "", "", [](const Difference& of) { return in_full(of.ours); }, Shown::csv);
    add_number("_interval_low", "", [](const SeedTest& of) { return of.interval.low; });
    add_number("_interval_high", "", [](const SeedTest& of) { return of.interval.high; });
    add_number("_degrees", "", [](const SeedTest& of) { return of.degrees_of_freedom; });
    add_number("_p_seeds", "", [](const SeedTest& of) { return of.p_value; });
    add(
        "_p_holm", "", "", [](const Difference& of) { return in_full(of.holm); }, Shown::csv);
    add(
        "_high_variance", "", "",
        [](const Difference& of) { return of.high_variance ? "yes" : "no"; }, Shown::csv, true);
    add(
        "_p_welch", "", "",
        [](const Difference& of) { return of.welch ? in_full(of.welch->p_value) : ""; },
        Shown::csv);
    add_number("_detectable", "", [](const SeedTest& of) { return of.detectable; });
    if (!bootstrap) return;
    const auto add_joint = [&](const char* suffix, auto number) {
      const auto cell = [number](const Difference& of) {
        return of.joint ? in_full(number(*of.joint)) : std::string();
      };
      add(suffix, "", "", cell, Shown::csv);
    };
    add(
        "_p", "", "", [](const Difference& of) { return in_full(of.p_sentences); }, Shown::csv);
    add_joint("_p_joint", [](const JointDifference& of) { return of.p_value; });
    add_joint("_joint_low", [](const JointDifference& of) { return of.interval.low; });
    add_joint("_joint_high", [](const JointDifference& of) { return of.interval.high; });
  }

  std::vector<MetricColumn> columns;

 private:
  Metric metric_;
  std::string key_;
  std::string group_;
};

}  // namespace

std::vector<MetricColumn> metric_columns(const SweepResults& results,
                                         std::span<const RowComparison> comparisons) {
  std::vector<MetricColumn> out;
  for (const MetricFacts& facts : kMetrics) {
    const std::string& evaluator = results.evaluators[facts.metric];
    if (evaluator.empty()) continue;
    Columns columns(facts, evaluator);
    columns.add_means();
    columns.add_tests(any_tested(comparisons, facts.metric, &Difference::test),
                      any_tested(comparisons, facts.metric, &Difference::welch));
    if (facts.bootstrap) columns.add_bootstraps();
    if (any_in_paper(results, facts.metric)) columns.add_paper(facts.paper_decimals);
    columns.add_full(facts.bootstrap);
    for (MetricColumn& column : columns.columns) out.push_back(std::move(column));
  }
  return out;
}

}  // namespace attn
