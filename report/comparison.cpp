#include "report/comparison.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "base/format.h"
#include "eval/metrics/bootstrap.h"
#include "report/rank_correlation.h"

namespace attn {
namespace {

constexpr double kMaxFixedScore = 1e6;  // perplexities of diverged runs have hundreds of digits

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

SystemStatistics sentences_of(const RowRecord& row) {
  SystemStatistics system;
  for (const RunRecord& run : row.runs) {
    if (!run.scores[Metric::bleu]) continue;
    if (run.sentences.empty()) return {};  // the means have this seed
    system.push_back(run.sentences);
  }
  return system;
}

Verdict judge(const Difference& difference) {
  if (!difference.ours || !difference.paper || *difference.paper == 0.0) return Verdict::none;
  if (!difference.significant) return Verdict::unclear;
  const bool same = std::signbit(*difference.ours) == std::signbit(*difference.paper);
  return same ? Verdict::agrees : Verdict::disagrees;
}

std::optional<double> paper_difference(const std::optional<double>& row,
                                       const std::optional<double>& base) {
  if (!row || !base) return {};
  return *row - *base;
}

std::vector<size_t> baselines_of(const SweepResults& results) {
  std::vector<size_t> baselines;
  for (const RowRecord& row : results.rows) baselines.push_back(row.baseline);
  return baselines;
}

// For each row the first one with a mean that trains the same weights: itself, if there is none.
std::vector<size_t> equivalents_of(const SweepResults& results,
                                   std::span<const std::optional<SeedMean>> means) {
  std::map<size_t, size_t> first;  // by the row that SweepResults names
  std::vector<size_t> first_equivalent(means.size());
  for (size_t i = 0; i < means.size(); ++i) {
    const size_t named = results.rows[i].equivalent_row.value_or(i);
    first_equivalent[i] = means[i] ? first.emplace(named, i).first->second : i;
  }
  return first_equivalent;
}

// As printed, more than one unit of the last decimal.
bool prints_a_difference(double difference) {
  return std::round(std::abs(difference) * std::pow(10.0, kScoreDecimals)) > 1.0;
}

bool below_level(const std::optional<double>& p_value) {
  return p_value && *p_value < kSignificance;
}

bool is_significant(const Difference& difference, const MetricFacts& facts) {
  if (!difference.ours || !prints_a_difference(*difference.ours)) return false;
  if (!facts.bootstrap) return below_level(difference.holm);
  if (!difference.joint || difference.joint->p_value >= kSignificance) return false;
  return below_level(difference.test ? difference.holm : difference.p_sentences);
}

// Differences from the baselines and their tests over seeds, without Holm's correction.
void add_differences(const SweepResults& results, Metric metric, std::vector<RowComparison>& out) {
  std::vector<std::optional<SeedMean>> means;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool comparable = !results.rows[i].incomparable[metric];
    means.push_back(comparable ? out[i].means[metric] : std::nullopt);
  }
  const std::vector<size_t> first_equivalent = equivalents_of(results, means);
  const std::vector<SeedTests> tests = seed_tests(means, baselines_of(results), first_equivalent);
  for (size_t i = 0; i < out.size(); ++i) {
    Difference& difference = out[i].differences[metric];
    difference.high_variance = tests[i].high_variance;
    const size_t k = results.rows[i].baseline;
    if (i == k) continue;
    difference.paper = paper_difference(results.rows[i].paper.scores[metric],
                                        results.rows[k].paper.scores[metric]);
    difference.test = tests[i].over_seeds;
    difference.welch = tests[i].welch;
    if (!means[i] || !means[k]) continue;
    difference.ours = means[i]->mean - means[k]->mean;
    if (first_equivalent[i] != first_equivalent[k]) continue;
    const SeedScores row = scores_of(results.rows[i], metric);
    const SeedScores base = scores_of(results.rows[k], metric);
    difference.paired = row.seeds.size() > 1 && row.seeds == base.seeds;
    if (!difference.paired) continue;
    difference.test = paired_test(base.values, row.values);
    difference.welch = {};
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

// Both bootstraps of the rows with this baseline; only outputs for the same text can be paired.
void add_bootstrap(const SweepResults& results, size_t baseline, std::vector<RowComparison>& out) {
  if (results.rows[baseline].incomparable[Metric::bleu]) return;
  const SystemStatistics base = sentences_of(results.rows[baseline]);
  if (base.empty()) return;
  std::vector<SystemStatistics> systems;
  std::vector<size_t> rows;
  std::set<size_t> paired;
  for (size_t i = 0; i < results.rows.size(); ++i) {
    if (results.rows[i].baseline != baseline || i == baseline) continue;
    if (results.rows[i].incomparable[Metric::bleu]) continue;
    SystemStatistics system = sentences_of(results.rows[i]);
    if (system.empty() || system.front().size() != base.front().size()) continue;
    if (out[i].differences[Metric::bleu].paired) paired.insert(systems.size());
    systems.push_back(std::move(system));
    rows.push_back(i);
  }
  const PairedBootstrap bootstrap = paired_bootstrap(base, systems, results.bleu_options);
  const auto joint = joint_bootstrap(base, systems, paired, results.bleu_options);
  for (size_t k = 0; k < rows.size(); ++k) {
    Difference& difference = out[rows[k]].differences[Metric::bleu];
    difference.joint = joint[k];
    // sacreBLEU's p is 1 / (samples + 1) where no resample differs, such as of identical outputs.
    const Interval& interval = joint[k].interval;
    const bool differs = interval.low != 0.0 || interval.high != 0.0;
    if (differs) difference.p_sentences = bootstrap.systems[k].p_value;
  }
}

// "8 (A1, A2)".
std::string counted(const std::vector<std::string>& names) {
  std::string text = std::to_string(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? " (" : ", ";
    text += names[i];
  }
  return names.empty() ? text : text + ")";
}

// Rows by verdict; empty where the paper has no results.
std::string agreement(const SweepResults& results, std::span<const RowComparison> comparisons,
                      Metric metric) {
  std::vector<std::string> agree, disagree, unclear;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const Verdict verdict = comparisons[i].differences[metric].verdict;
    if (verdict == Verdict::agrees) agree.push_back(results.rows[i].name);
    if (verdict == Verdict::disagrees) disagree.push_back(results.rows[i].name);
    if (verdict == Verdict::unclear) unclear.push_back(results.rows[i].name);
  }
  const size_t all = agree.size() + disagree.size() + unclear.size();
  if (all == 0) return "";
  const auto part = [](const std::vector<std::string>& names, const char* one, const char* many) {
    return counted(names) + " " + (names.size() == 1 ? one : many);
  };
  return "of " + std::to_string(all) + " rows that differ from their baseline in the paper, " +
         part(agree, "agrees", "agree") + " with the paper, " +
         part(disagree, "disagrees", "disagree") + ", " +
         part(unclear, "is inconclusive", "are inconclusive") + ".";
}

// Over the rows compared with the first one: differences from several rows have no order.
std::string rank_agreement(const SweepResults& results, std::span<const RowComparison> comparisons,
                           Metric metric) {
  std::vector<double> ours, paper;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    if (results.rows[i].baseline != 0) continue;
    const Difference& difference = comparisons[i].differences[metric];
    if (!difference.ours || !difference.paper || !std::isfinite(*difference.ours)) continue;
    ours.push_back(*difference.ours);
    // Differences of the paper's rounded results, equal where they print equal.
    paper.push_back(std::round(*difference.paper * 1e6));
  }
  if (ours.size() < 3) return "";
  const std::optional<RankCorrelation> found = kendall_tau(ours, paper);
  if (!found) return "";
  std::string text = format("Kendall's τ of the differences with the paper's: %.2f (", found->tau);
  if (found->interval) {
    text += format("95 %% interval %.2f to %.2f, ", found->interval->low, found->interval->high);
  }
  return text + "p " + p_text(found->p_value) +
         format(", n = %lld).", static_cast<long long>(found->count));
}

std::string detectable(std::span<const RowComparison> comparisons, const MetricFacts& metric) {
  const std::optional<double> median = median_detectable(comparisons, metric.metric);
  if (!median) return "";
  return format("minimum detectable difference: %.*f %s (median over rows, ", kScoreDecimals,
                *median, metric.title) +
         "power 0.8, α = 0.05, before Holm's correction).";
}

std::string high_variance_names(const SweepResults& results,
                                std::span<const RowComparison> comparisons, Metric metric) {
  std::string names;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    if (!comparisons[i].differences[metric].high_variance) continue;
    names += (names.empty() ? "" : ", ") + results.rows[i].name;
  }
  if (names.empty()) return "";
  return "high-variance rows, tested with their own variance: " + names + ".";
}

}  // namespace

std::string p_text(double p_value) {
  return p_value < 0.0005 ? "<0.001" : format("%.3f", p_value);
}

std::string score_text(double score, int decimals) {
  return std::abs(score) < kMaxFixedScore ? format("%.*f", decimals, score) : format("%.2e", score);
}

std::string mean_text(const std::optional<SeedMean>& mean) {
  if (!mean) return "";
  std::string text = score_text(mean->mean);
  if (mean->deviation) text += " ± " + score_text(*mean->deviation);
  return text;
}

std::string verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::none:
      return "";
    case Verdict::agrees:
      return "agrees";
    case Verdict::disagrees:
      return "disagrees";
    case Verdict::unclear:
      return "inconclusive";
  }
  return "";
}

std::vector<RowComparison> compare(const SweepResults& results) {
  std::vector<RowComparison> out(results.rows.size());
  if (out.empty()) return out;
  for (size_t i = 0; i < out.size(); ++i) {
    for (const MetricFacts& facts : kMetrics) {
      out[i].means[facts.metric] = seed_mean(scores_of(results.rows[i], facts.metric).values);
    }
  }
  for (const MetricFacts& facts : kMetrics) {
    add_differences(results, facts.metric, out);
    adjust(facts.metric, out);
  }
  const std::vector<size_t> baselines = baselines_of(results);
  for (const size_t baseline : std::set<size_t>(baselines.begin(), baselines.end())) {
    add_bootstrap(results, baseline, out);
  }
  for (const MetricFacts& facts : kMetrics) {
    for (RowComparison& row : out) {
      Difference& difference = row.differences[facts.metric];
      difference.significant = is_significant(difference, facts);
      difference.verdict = judge(difference);
    }
  }
  return out;
}

std::optional<double> median_detectable(std::span<const RowComparison> comparisons, Metric metric) {
  std::vector<double> differences;
  for (const RowComparison& row : comparisons) {
    if (const auto& test = row.differences[metric].test) {
      differences.push_back(test->detectable);
    }
  }
  if (differences.empty()) return {};
  std::sort(differences.begin(), differences.end());
  const size_t half = differences.size() / 2;
  return differences.size() % 2 == 1 ? differences[half]
                                     : 0.5 * (differences[half - 1] + differences[half]);
}

std::string summary(const SweepResults& results, std::span<const RowComparison> comparisons,
                    const MetricFacts& metric) {
  std::string text;
  for (std::string part :
       {agreement(results, comparisons, metric.metric),
        rank_agreement(results, comparisons, metric.metric), detectable(comparisons, metric),
        high_variance_names(results, comparisons, metric.metric)}) {
    if (part.empty()) continue;
    if (text.empty()) {
      text = std::string(metric.heading) + ":";
    } else {  // a sentence of its own
      part.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(part.front())));
    }
    text += " " + part;
  }
  return text;
}

}  // namespace attn
