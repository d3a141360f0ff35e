#include "report/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/format.h"
#include "report/row_groups.h"
#include "report/svg.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr size_t kMaxNames = 4;
constexpr double kMaxWords = 30.0;  // em, about 50 characters

// Rows compared in a metric.
struct Compared {
  MetricFacts facts;
  std::vector<size_t> rows = {}, significant = {};              // with the first row
  std::vector<size_t> others = {}, differing = {};              // the same with another baseline
  std::vector<size_t> agree = {}, disagree = {}, unclear = {};  // as the paper
};

Compared look_at(const SweepResults& results, std::span<const RowComparison> comparisons,
                 const MetricFacts& facts) {
  Compared found{.facts = facts};
  for (size_t i = 1; i < comparisons.size(); ++i) {
    const Difference& difference = comparisons[i].differences[facts.metric];
    if (!difference.ours || !std::isfinite(*difference.ours)) continue;
    const bool of_first = results.rows[i].baseline == 0;
    (of_first ? found.rows : found.others).push_back(i);
    if (difference.significant) (of_first ? found.significant : found.differing).push_back(i);
    if (difference.verdict == Verdict::agrees) found.agree.push_back(i);
    if (difference.verdict == Verdict::disagrees) found.disagree.push_back(i);
    if (difference.verdict == Verdict::unclear) found.unclear.push_back(i);
  }
  return found;
}

// The first metric with compared rows, and perplexity where it is another one.
std::vector<Compared> compared_metrics(const SweepResults& results,
                                       std::span<const RowComparison> comparisons) {
  std::vector<Compared> all;
  for (const MetricFacts& facts : metrics_by_interest(results)) {
    Compared found = look_at(results, comparisons, facts);
    if (!found.rows.empty() || !found.others.empty()) all.push_back(std::move(found));
  }
  if (all.size() > 2) all.erase(all.begin() + 1, all.end() - 1);
  return all;
}

// "C5 (twice d_model, +1.20)".
std::string named(const SweepResults& results, std::span<const RowComparison> comparisons,
                  const MetricFacts& facts, size_t row) {
  const std::string words = fitted_text(row_words(results.rows[row]), kMaxWords, 1.0);
  return results.rows[row].name + " (" + (words.empty() ? words : words + ", ") +
         signed_number(*comparisons[row].differences[facts.metric].ours, kScoreDecimals) + ")";
}

// " (A1, A2, B1, C1 …)"; empty without rows.
std::string listed(const SweepResults& results, const std::vector<size_t>& rows) {
  std::string text;
  for (size_t i = 0; i < rows.size() && i < kMaxNames; ++i) {
    text += (i == 0 ? " (" : ", ") + results.rows[rows[i]].name;
  }
  if (rows.size() > kMaxNames) text += " …";
  return text.empty() ? "" : text + ")";
}

// "; best is C5 (…), worst D2 (…)": the extremes of the significant differences.
std::string extremes(const SweepResults& results, std::span<const RowComparison> comparisons,
                     const Compared& found) {
  const bool lower = found.facts.lower_is_better;
  std::optional<size_t> best, worst;
  const auto gain = [&](size_t row) {
    const double ours = *comparisons[row].differences[found.facts.metric].ours;
    return lower ? -ours : ours;
  };
  for (const size_t row : found.significant) {
    if (gain(row) > 0 && (!best || gain(row) > gain(*best))) best = row;
    if (gain(row) < 0 && (!worst || gain(row) < gain(*worst))) worst = row;
  }
  std::string text;
  if (best) text += "; best is " + named(results, comparisons, found.facts, *best);
  if (worst) {
    text += best ? ", worst " : "; worst is ";
    text += named(results, comparisons, found.facts, *worst);
  }
  return text;
}

// "3 of the 19 rows differ", "none of the 19 rows differs", "A1 does not differ".
std::string how_many_differ(const SweepResults& results, const Compared& found) {
  if (found.rows.size() == 1) {
    return results.rows[found.rows.front()].name +
           (found.significant.empty() ? " does not differ" : " differs");
  }
  if (found.significant.empty()) return format("none of the %zu rows differs", found.rows.size());
  return format("%zu of the %zu rows %s", found.significant.size(), found.rows.size(),
                found.significant.size() == 1 ? "differs" : "differ");
}

// ", 10", for a second metric after how_many_differ: of the same rows, or in full.
std::string how_many_more(const SweepResults& results, const Compared& first,
                          const Compared& second) {
  if (second.rows != first.rows) return ", and " + how_many_differ(results, second);
  const bool none = second.significant.empty();
  if (first.rows.size() > 1) {
    return none ? ", none" : format(", %zu", second.significant.size());
  }
  if (first.significant.empty()) return none ? ", nor" : ", but does";
  return none ? ", but not" : " and";
}

std::string differing(const SweepResults& results, std::span<const RowComparison> comparisons,
                      std::vector<Compared> metrics) {
  std::erase_if(metrics, [](const Compared& found) { return found.rows.empty(); });
  if (metrics.empty()) return "";
  const Compared& first = metrics.front();
  const auto in_metric = [&](const Compared& of) {
    return std::string(" in ") + of.facts.name + " (" +
           mean_text(comparisons.front().means[of.facts.metric]) + ")";
  };
  std::string text = how_many_differ(results, first);
  if (first.rows.size() > 1 && text.front() == 'n') text.front() = 'N';
  text += " significantly from " + results.rows.front().name + in_metric(first);
  if (metrics.size() > 1) text += how_many_more(results, first, metrics[1]) + in_metric(metrics[1]);
  const bool one_row = first.rows.size() == 1;
  if (!one_row) {
    text += extremes(results, comparisons, first.significant.empty() ? metrics.back() : first);
  }
  return text + ".";
}

// " Of 7 rows with another baseline, 2 differ significantly from it in BLEU (A2, A3), 1 in
// perplexity (A2)."
std::string with_other_baselines(const SweepResults& results,
                                 const std::vector<Compared>& metrics) {
  std::string text;
  for (const Compared& found : metrics) {
    if (found.others.empty()) continue;
    const size_t count = found.differing.size();
    if (text.empty()) {
      text = format(" Of %s with another baseline, %zu %s significantly from it",
                    counted(std::ssize(found.others), "row").c_str(), count,
                    count == 1 ? "differs" : "differ");
    } else {
      text += format(", %zu", count);
    }
    text += std::string(" in ") + found.facts.name + listed(results, found.differing);
  }
  return text.empty() ? "" : text + ".";
}

std::string without_leading_space(std::string text) {
  return text.starts_with(' ') ? text.substr(1) : text;
}

// "4 of 18 in BLEU and 7 of 18 in perplexity".
std::string signs(const std::vector<Compared>& metrics, std::vector<size_t> Compared::*which) {
  std::string text;
  for (const Compared& found : metrics) {
    const size_t all = found.agree.size() + found.disagree.size() + found.unclear.size();
    if (all == 0) continue;
    text += format("%s%zu of %zu in %s", text.empty() ? "" : " and ", (found.*which).size(), all,
                   found.facts.name);
  }
  return text;
}

// " (big; A3, C3)".
std::string names_of(const SweepResults& results, const std::vector<Compared>& metrics) {
  std::vector<size_t> rows;
  for (const Compared& found : metrics) {
    rows.insert(rows.end(), found.disagree.begin(), found.disagree.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return listed(results, rows);
}

std::string against_the_paper(const SweepResults& results, const std::vector<Compared>& metrics) {
  const std::string agree = signs(metrics, &Compared::agree);
  if (agree.empty()) return "";
  const bool any_unclear = std::any_of(
      metrics.begin(), metrics.end(), [](const Compared& found) { return !found.unclear.empty(); });
  return " The paper's sign holds for " + agree + ", and is reversed for " +
         signs(metrics, &Compared::disagree) + names_of(results, metrics) +
         (any_unclear ? "; the others are inconclusive." : ".");
}

std::string detectable_sentence(std::span<const RowComparison> comparisons,
                                const std::vector<Compared>& metrics) {
  std::string text;
  int count = 0;
  for (const Compared& found : metrics) {
    const auto difference = median_detectable(comparisons, found.facts.metric);
    if (!difference) continue;
    text += text.empty() ? "" : " and ";
    text += format("%.*f in %s", kScoreDecimals, *difference, found.facts.name);
    ++count;
  }
  if (count == 0) return " Too few seeds for a test across seeds.";
  return (count == 1 ? " Minimum detectable difference (power 0.8): "
                     : " Minimum detectable differences (power 0.8): ") +
         text + ".";
}

}  // namespace

std::vector<MetricFacts> metrics_by_interest(const SweepResults& results) {
  std::vector<MetricFacts> metrics(kMetrics.rbegin(), kMetrics.rend());
  std::erase_if(metrics,
                [&](const MetricFacts& facts) { return results.evaluators[facts.metric].empty(); });
  return metrics;
}

std::string report_summary(const SweepResults& results,
                           std::span<const RowComparison> comparisons) {
  if (comparisons.empty()) return "";
  const std::vector<Compared> metrics = compared_metrics(results, comparisons);
  if (!metrics.empty()) {
    const std::string paper = against_the_paper(results, metrics);
    return without_leading_space(
        differing(results, comparisons, metrics) + with_other_baselines(results, metrics) +
        (paper.empty() ? detectable_sentence(comparisons, metrics) : paper));
  }
  std::string scores;
  for (const MetricFacts& facts : metrics_by_interest(results)) {
    const std::string mean = mean_text(comparisons.front().means[facts.metric]);
    if (mean.empty()) continue;
    scores.append(scores.empty() ? "" : ", ").append(facts.name).append(" ").append(mean);
  }
  if (scores.empty()) return "No result yet.";
  return results.rows.front().name + " has " + scores + "; there is no other row to compare yet.";
}

std::string missing_state(const RowRecord& row) {
  if (row.runs.empty()) return "not run";
  bool failed = false, omitted = true;
  for (const RunRecord& run : row.runs) {
    if (run.is_finished()) return "";
    failed |= run.state == RunState::failed;
    omitted &= run.state == RunState::omitted;
  }
  return failed ? "failed" : omitted ? "omitted" : "unfinished";
}

std::string progress(const SweepResults& results) {
  size_t missing = 0, none = 0;
  std::map<RunState, size_t> runs;
  for (const RowRecord& row : results.rows) {
    none += row.runs.empty();
    missing += row.missing_seeds.size();
    for (const RunRecord& run : row.runs) {
      ++runs[run.state];
    }
  }
  std::string others;
  for (const auto& [count, state] : {std::pair(runs[RunState::failed], "failed"),
                                     {runs[RunState::unfinished], "unfinished"},
                                     {runs[RunState::omitted], "omitted (see the notes)"},
                                     {missing, "not run"}}) {
    if (count > 0) others += format("%s%zu %s", others.empty() ? "" : ", ", count, state);
  }
  std::string text;
  if (!others.empty()) {
    size_t all = missing;
    for (const auto& [state, count] : runs) all += count;
    text = format("%zu of %s finished: %s.", runs[RunState::finished],
                  counted(static_cast<int64_t>(all), "run").c_str(), others.c_str());
  }
  if (none == 0) return text;
  if (!text.empty()) text += " ";
  return text + counted(static_cast<int64_t>(none), "row has", "rows have") + " not been run.";
}

}  // namespace attn
