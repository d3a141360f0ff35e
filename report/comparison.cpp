#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/table.h"

namespace attn {
namespace {

// The scores of the finished runs, and their seeds.
struct SeedScores {
  std::vector<int64_t> seeds;
  std::vector<double> values;
};

SeedScores scores_of(const RowRecord& row, Metric metric) {
  SeedScores scores;
  for (const RunRecord& run : row.runs) {
    const std::optional<double>& score = run.scores[metric];
    if (!run.is_finished() || !score) continue;
    scores.seeds.push_back(run.seed);
    scores.values.push_back(*score);
  }
  return scores;
}

SystemRuns outputs_of(const RowRecord& row, Metric metric) {
  SystemRuns system;
  for (const RunRecord& run : row.runs) {
    if (!run.scores[metric]) continue;
    if (run.outputs[metric].sentences == 0) return {};  // the means have this seed
    system.push_back(run.outputs[metric]);
  }
  return system;
}

std::string verdict_of(const Difference& difference) {
  if (!difference.p_value || !difference.paper || *difference.paper == 0.0) return "";
  if (!difference.significant) return "inconclusive";
  const bool same = std::signbit(*difference.ours) == std::signbit(*difference.paper);
  return same ? "agrees" : "disagrees";
}

// Differences from the baselines and their tests over seeds, without Holm's correction.
void add_differences(const SweepResults& results, Metric metric, std::vector<RowComparison>& out) {
  std::vector<std::optional<SeedMean>> means;
  // For each row the first one with a mean that trains the same weights, else the row itself.
  std::vector<size_t> baselines, first_equivalent;
  std::map<size_t, size_t> first;  // by the row that SweepResults names
  for (size_t i = 0; i < out.size(); ++i) {
    const RowRecord& row = results.rows[i];
    means.push_back(row.incomparable[metric] ? std::nullopt : out[i].means[metric]);
    baselines.push_back(row.baseline);
    const size_t named = row.equivalent_row.value_or(i);
    first_equivalent.push_back(means[i] ? first.emplace(named, i).first->second : i);
  }
  const std::vector<RowTest> tests = test_rows(means, baselines, first_equivalent);
  for (size_t i = 0; i < out.size(); ++i) {
    Difference& difference = out[i].differences[metric];
    difference.unstable = tests[i].unstable;
    const size_t k = baselines[i];
    if (i == k) continue;
    const double paper = results.rows[i].paper.scores[metric],
                 base_paper = results.rows[k].paper.scores[metric];
    if (paper > 0 && base_paper > 0) difference.paper = paper - base_paper;
    difference.test = tests[i].test;
    if (!means[i] || !means[k]) continue;
    difference.ours = means[i]->mean - means[k]->mean;
    if (first_equivalent[i] != first_equivalent[k]) continue;
    const SeedScores row = scores_of(results.rows[i], metric);
    const SeedScores base = scores_of(results.rows[k], metric);
    difference.paired = row.seeds.size() > 1 && row.seeds == base.seeds;
    if (difference.paired) difference.test = paired_test(base.values, row.values);
  }
}

void adjust(Metric metric, std::vector<RowComparison>& rows) {
  std::vector<double> p_values;
  for (const RowComparison& row : rows) {
    if (const auto& test = row.differences[metric].test) p_values.push_back(test->p_value);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  auto next = adjusted.begin();
  for (RowComparison& row : rows) {
    if (row.differences[metric].test) row.differences[metric].holm = *next++;
  }
}

// The bootstrap of the rows with this baseline; only outputs for the same text can be paired.
void add_bootstrap(const SweepResults& results, Metric metric, size_t baseline,
                   std::vector<RowComparison>& out) {
  if (results.rows[baseline].incomparable[metric]) return;
  const SystemRuns base = outputs_of(results.rows[baseline], metric);
  if (base.empty()) return;
  std::vector<SystemRuns> systems;
  std::vector<size_t> rows;
  std::set<size_t> paired;
  for (size_t i = 0; i < results.rows.size(); ++i) {
    if (static_cast<size_t>(results.rows[i].baseline) != baseline || i == baseline) continue;
    if (results.rows[i].incomparable[metric]) continue;
    SystemRuns system = outputs_of(results.rows[i], metric);
    if (system.empty() || system.front().sentences != base.front().sentences) continue;
    if (out[i].differences[metric].paired) paired.insert(systems.size());
    systems.push_back(std::move(system));
    rows.push_back(i);
  }
  if (rows.empty()) return;
  const auto joint = joint_bootstrap(base, systems, paired);
  for (size_t k = 0; k < rows.size(); ++k) {
    out[rows[k]].differences[metric].joint = joint[k];
  }
}

std::optional<double> p_value_of(const Difference& difference, const MetricFacts& facts) {
  if (!facts.bootstrap) return difference.holm;
  if (!difference.joint) return {};
  return std::max(difference.joint->p_value, difference.holm.value_or(0.0));
}

// As printed, more than one unit of the last decimal.
bool prints_a_difference(double difference) {
  return std::round(std::abs(difference) * std::pow(10.0, kScoreDecimals)) > 1.0;
}

}  // namespace

std::vector<RowComparison> compare(const SweepResults& results) {
  std::vector<RowComparison> out(results.rows.size());
  for (const MetricFacts& facts : kMetrics) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].means[facts.metric] = seed_mean(scores_of(results.rows[i], facts.metric).values);
    }
    add_differences(results, facts.metric, out);
    adjust(facts.metric, out);
  }
  for (const MetricFacts& facts : kMetrics) {
    for (size_t i = 0; i < out.size(); ++i) add_bootstrap(results, facts.metric, i, out);
    for (RowComparison& row : out) {
      Difference& difference = row.differences[facts.metric];
      difference.p_value = p_value_of(difference, facts);
      difference.significant = difference.ours && difference.p_value &&
                               *difference.p_value < kSignificance &&
                               prints_a_difference(*difference.ours);
      difference.verdict = verdict_of(difference);
    }
  }
  return out;
}

}  // namespace attn
