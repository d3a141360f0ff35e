#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "eval/metrics/bootstrap.h"

namespace attn {
namespace {

std::vector<double> values_of(const RowRecord& row, Metric metric) {
  std::vector<double> values;
  for (const RunRecord& run : row.runs) {
    const std::optional<double>& figure = run.figures[metric];
    if (run.finished && figure) values.push_back(*figure);
  }
  return values;
}

SystemStatistics sentences_of(const RowRecord& row) {
  SystemStatistics system;
  for (const RunRecord& run : row.runs) {
    if (run.finished && !run.sentences.empty()) system.push_back(run.sentences);
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

// Probability that |t| is exceeded by chance: the finite series of Abramowitz and Stegun, 26.7.3
// and 26.7.4.
double student_t_p_value(double t, int64_t degrees) {
  const double angle = std::atan(std::abs(t) / std::sqrt(static_cast<double>(degrees)));
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0, sum = 0.0;
  for (int64_t k = odd ? 1 : 0; k < degrees - 1; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  const double within = odd ? 2 * std::numbers::inv_pi * (angle + sine * sum) : sine * sum;
  return 1.0 - within;
}

// The test over seeds; returns `without` if neither row has several seeds.
bool beyond_seeds(const SeedMean& base, const SeedMean& row, bool without) {
  const auto p_value = seed_p_value(base, row);
  return p_value ? *p_value < kSignificance : without;
}

// Expects the bootstrap's p-value to be set already, if there is one.
void compare_rows(const SweepResults& results, size_t row, const MetricFacts& facts,
                  std::vector<RowComparison>& out) {
  const Metric metric = facts.metric;
  Difference& difference = out[row].differences[metric];
  difference.paper = paper_difference(results.rows[row].paper.figures[metric],
                                      results.rows.front().paper.figures[metric]);
  const auto &base = out.front().means[metric], &mean = out[row].means[metric];
  if (!base || !mean) return;
  difference.ours = mean->mean - base->mean;
  // Identical outputs have p = 0.001 by sacreBLEU's definition: not significant.
  const bool over_sentences =
      !facts.bootstrap || (difference.p_value && *difference.p_value < kSignificance);
  difference.significant =
      *difference.ours != 0.0 && over_sentences && beyond_seeds(*base, *mean, facts.bootstrap);
  difference.verdict = judge(difference);
}

// Paired bootstrap of all rows; only outputs for the same text can be paired.
void add_bootstrap(const SweepResults& results, std::vector<RowComparison>& out) {
  const SystemStatistics base = sentences_of(results.rows.front());
  if (base.empty()) return;
  std::vector<SystemStatistics> systems;
  std::vector<size_t> rows;
  for (size_t i = 1; i < results.rows.size(); ++i) {
    SystemStatistics system = sentences_of(results.rows[i]);
    if (system.empty() || system.front().size() != base.front().size()) continue;
    systems.push_back(std::move(system));
    rows.push_back(i);
  }
  const PairedBootstrap bootstrap = paired_bootstrap(base, systems, results.bleu_options);
  for (size_t k = 0; k < rows.size(); ++k) {
    out[rows[k]].differences[Metric::bleu].p_value = bootstrap.systems[k].p_value;
  }
}

}  // namespace

std::optional<SeedMean> seed_mean(std::span<const double> values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  SeedMean out{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n,
               .deviation = {},
               .seeds = static_cast<int64_t>(values.size())};
  if (values.size() < 2) return out;
  double squares = 0.0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  return out;
}

std::optional<double> seed_p_value(const SeedMean& a, const SeedMean& b) {
  const int64_t degrees = a.seeds + b.seeds - 2;
  if (degrees < 1) return {};
  const auto squares = [](const SeedMean& of) {
    const double deviation = of.deviation.value_or(0.0);
    return deviation * deviation * static_cast<double>(of.seeds - 1);
  };
  const double variance = (squares(a) + squares(b)) / static_cast<double>(degrees);
  const double error = std::sqrt(
      variance * (1.0 / static_cast<double>(a.seeds) + 1.0 / static_cast<double>(b.seeds)));
  if (a.mean == b.mean) return 1.0;
  return student_t_p_value((a.mean - b.mean) / error, degrees);  // without variance t is infinite
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
      out[i].means[facts.metric] = seed_mean(values_of(results.rows[i], facts.metric));
    }
  }
  add_bootstrap(results, out);
  for (size_t i = 1; i < out.size(); ++i) {
    for (const MetricFacts& facts : kMetrics) compare_rows(results, i, facts, out);
  }
  return out;
}

std::string summary(const SweepResults& results, std::span<const RowComparison> comparisons,
                    const MetricFacts& metric) {
  std::vector<std::string> agree, disagree, unclear;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const Difference& difference = comparisons[i].differences[metric.metric];
    if (difference.verdict == Verdict::agrees) agree.push_back(results.rows[i].name);
    if (difference.verdict == Verdict::disagrees) disagree.push_back(results.rows[i].name);
    if (difference.verdict == Verdict::unclear) unclear.push_back(results.rows[i].name);
  }
  const size_t all = agree.size() + disagree.size() + unclear.size();
  if (all == 0) return "";
  const auto part = [&](const std::vector<std::string>& names) {
    std::string text = std::to_string(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      text += i == 0 ? " (" : ", ";
      text += names[i];
    }
    if (!names.empty()) text += ")";
    return text;
  };
  std::string text = std::string(metric.heading) + ": of ";
  text += std::to_string(all) + " rows that differ from the base in the paper, ";
  text += part(agree) + " agree with the paper, " + part(disagree) + " disagree, ";
  return text + part(unclear) + " are inconclusive.";
}

}  // namespace attn
