// Means over seeds, differences from the base row, and their significance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/results.h"

namespace attn {

/// Mean over finished seeds, and their sample standard deviation if there are at least two.
struct SeedMean {
  double mean = 0.0;
  std::optional<double> deviation;
  int64_t seeds = 0;
};
std::optional<SeedMean> seed_mean(std::span<const double> values);

/// Two-sided p-value of Student's t for two means over seeds, with the pooled variance and its
/// degrees of freedom (equal variances assumed). A single seed does not contribute to the variance.
/// None if neither row has a deviation.
///
/// Welch's test allows unequal variances, but does not keep its level with so few seeds (false
/// positives: 9 % with eight seeds vs. two, 2 % with two vs. two) and is undefined for one seed.
std::optional<double> seed_p_value(const SeedMean& a, const SeedMean& b);

/// A difference from the base compared with the paper's.
enum class Verdict {
  none,       ///< nothing to compare: the base itself, or no figure or difference in the paper
  agrees,     ///< significant, with the paper's sign
  disagrees,  ///< significant, with the opposite sign
  unclear     ///< not significant
};
std::string verdict_word(Verdict verdict);

struct Difference {
  std::optional<double> ours;     ///< row - base
  std::optional<double> paper;    ///< the same in the paper
  std::optional<double> p_value;  ///< paired bootstrap over sentences (MetricFacts::bootstrap)
  bool significant = false;       ///< see compare()
  Verdict verdict = Verdict::none;
};

struct RowComparison {
  PerMetric<std::optional<SeedMean>> means;
  PerMetric<Difference> differences;
};

/// Significance level.
inline constexpr double kSignificance = 0.05;

/// One entry per row. A difference is significant if Student's t test over seeds is (seed_p_value
/// below kSignificance), which needs at least two seeds of the base or the row. A metric with a
/// test over sentences (paired bootstrap, scores averaged over seeds) must pass that test as well;
/// with one seed each, that test alone decides.
std::vector<RowComparison> compare(const SweepResults& results);

/// How many rows agree with the paper, and which; empty where the paper has no figures.
std::string summary(const SweepResults& results, std::span<const RowComparison> comparisons,
                    const MetricFacts& metric);

}  // namespace attn
