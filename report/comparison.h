// Means over seeds, differences from the baseline of each row, and their significance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/joint_bootstrap.h"
#include "report/results.h"
#include "report/seed_tests.h"

namespace attn {

/// A difference from the baseline compared with the paper's.
enum class Verdict {
  none,       ///< nothing to compare: the first row, or no result or difference in the paper
  agrees,     ///< significant, with the paper's sign
  disagrees,  ///< significant, with the opposite sign
  unclear     ///< not significant
};
std::string verdict_word(Verdict verdict);

/// With three decimals: "0.042", or "<0.001" instead of 0.000.
std::string p_text(double p_value);

/// Decimals of means and differences in tables and texts.
inline constexpr int kScoreDecimals = 2;

/// "35.90"; "6.67e+51" from 10^6 on, as for the perplexity of a run that diverged.
std::string score_text(double score, int decimals = kScoreDecimals);

/// "35.90 ± 0.31", with the standard deviation over seeds; "" without a mean.
std::string mean_text(const std::optional<SeedMean>& mean);

struct Difference {
  std::optional<double> ours;         ///< row - baseline
  std::optional<double> paper;        ///< the same in the paper
  bool paired = false;                ///< the baseline's weights: compared seed by seed
  bool high_variance = false;         ///< the row varies more than the others: high_variance_rows
  std::optional<SeedTest> test;       ///< SeedTests::over_seeds, or paired_test: see compare()
  std::optional<SeedTest> welch;      ///< SeedTests::welch
  std::optional<double> holm;         ///< test's p-value, adjusted for the table's rows
  std::optional<double> p_sentences;  ///< paired bootstrap over sentences, as sacreBLEU's
  std::optional<JointDifference> joint;  ///< bootstrap over sentences and seeds
  bool significant = false;              ///< see compare()
  Verdict verdict = Verdict::none;
};

struct RowComparison {
  PerMetric<std::optional<SeedMean>> means;
  PerMetric<Difference> differences;
};

/// One entry per row. A difference is significant if
/// - the test over seeds is (SeedTests::over_seeds; paired_test of rows that train the same weights
///   with the same seeds and are only evaluated differently), with its p-value adjusted by Holm's
///   method for the rows tested in this metric, below kSignificance. It needs a row of the table
///   with at least two seeds that are not all equal, and assumes that the rows vary equally between
///   seeds;
/// - for a metric with a test over sentences (MetricFacts::bootstrap): the bootstrap over sentences
///   and seeds together is, below kSignificance. Where the test over seeds is impossible, this and
///   the paired bootstrap over sentences decide, without correction;
/// - as printed it is more than one unit of the last decimal: 0.00 → 0.01 can be the rounding of
///   two means.
std::vector<RowComparison> compare(const SweepResults& results);

/// The minimum detectable difference: the smallest true difference that the tests over seeds find
/// with probability kPower, before Holm's correction; the median over rows. None without a test.
std::optional<double> median_detectable(std::span<const RowComparison> comparisons, Metric metric);

/// How many rows agree with the paper in sign, and which; the rank correlation of the differences
/// with the paper's; the minimum detectable difference; and high-variance rows. Parts without data
/// are omitted; may be empty.
std::string summary(const SweepResults& results, std::span<const RowComparison> comparisons,
                    const MetricFacts& metric);

}  // namespace attn
