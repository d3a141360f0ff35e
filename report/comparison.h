// From runs to statements: means over seeds, differences from the base, and whether they mean
// anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/results.h"

namespace attn {

/// Mean over the seeds that finished, and their sample standard deviation where there are two or
/// more.
struct SeedMean {
  double mean = 0.0;
  std::optional<double> deviation;
  int64_t seeds = 0;
};
std::optional<SeedMean> seed_mean(std::span<const double> values);

/// Two-sided p-value of Student's t for two means over seeds, with the pooled variance and its
/// degrees of freedom: all rows are taken to vary as much as each other. A mean of one seed adds
/// nothing to the variance. None without a deviation on either side.
///
/// Welch's test lets variances differ, but is far from its level with so few seeds (of rows that
/// do not differ it calls 9 % different for eight seeds against two, 2 % for two against two) and
/// is not defined for one.
std::optional<double> seed_p_value(const SeedMean& a, const SeedMean& b);

/// What the data says of a difference, beside the paper's.
enum class Verdict {
  none,       ///< nothing to compare: the base itself, or the paper has no figure or no difference
  agrees,     ///< the same sign as the paper's, and more than noise
  disagrees,  ///< the other sign, and more than noise
  unclear     ///< within noise: this data can't tell
};
std::string verdict_word(Verdict verdict);

struct Difference {
  std::optional<double> ours;     ///< row less base
  std::optional<double> paper;    ///< the same of the paper's own figures
  std::optional<double> p_value;  ///< paired bootstrap over sentences (MetricFacts::bootstrap)
  bool significant = false;       ///< see compare()
  Verdict verdict = Verdict::none;
};

struct RowComparison {
  PerMetric<std::optional<SeedMean>> means;
  PerMetric<Difference> differences;
};

/// Level of the tests.
inline constexpr double kSignificance = 0.05;

/// One entry a row. A difference is significant when Student's t over seeds says so (seed_p_value
/// below kSignificance), which needs two seeds or more of the base or the row. A metric with a test
/// over sentences needs that too (paired bootstrap, p < 0.05, scores averaged over seeds); with one
/// seed of each it is enough.
std::vector<RowComparison> compare(const SweepResults& results);

/// For how many rows the difference has the paper's sign, and which; empty where the paper has
/// none.
std::string summary(const SweepResults& results, std::span<const RowComparison> comparisons,
                    const MetricFacts& metric);

}  // namespace attn
