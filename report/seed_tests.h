// Means over seeds, and tests of their differences: Student's t with the variance of all rows of a
// table, and Holm's correction for several tests.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "eval/metrics/bootstrap.h"

namespace attn {

/// Significance level.
inline constexpr double kSignificance = 0.05;

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Two-sided p-value of Student's t: the probability that |t| is exceeded by chance. `degrees` of
/// freedom > 0. By the regularized incomplete beta function I_x(degrees / 2, 1 / 2) at x = degrees
/// / (degrees + t²) (Abramowitz and Stegun, 26.5.27), as a continued fraction (DLMF 8.17.22).
double student_t_p_value(double t, double degrees);

/// The t > 0 that |t| exceeds with this probability, in (0, 1].
double student_t_critical(double probability, double degrees);

/// p-values adjusted for their number by Holm's step-down method (Holm 1979), in the given order:
/// with those below a level called significant, the probability of any false positive is at most
/// that level, whatever the dependence between the tests.
std::vector<double> holm_adjusted(std::span<const double> p_values);

/// Mean over finished seeds, and their sample standard deviation if there are at least two.
struct SeedMean {
  double mean = 0.0;
  std::optional<double> deviation;
  int64_t seeds = 0;
};
std::optional<SeedMean> seed_mean(std::span<const double> values);

/// An estimate of the variance over seeds.
struct SeedVariance {
  double variance = 0.0;
  double degrees_of_freedom = 0.0;
};

/// The mean of the rows' variances, weighted by their degrees of freedom: the residual mean square
/// of a one-way analysis of variance. Single seeds, rows whose seeds all have the same score and
/// values that are not finite do not contribute. None if no row is left.
std::optional<SeedVariance> pooled_variance(std::span<const SeedMean> rows);

/// The rows whose seeds deviate more than five times as much as those of the median row: some of
/// their runs diverged, and would hide all other differences. Of 19 rows that vary equally, one is
/// marked in 1 % of tables with two seeds per row, and in fewer with more. None if fewer than three
/// rows vary.
std::vector<bool> unstable_rows(std::span<const SeedMean> rows);

/// A test of the difference row - base.
struct SeedTest {
  double degrees_of_freedom = 0.0;
  double p_value = 1.0;  ///< two-sided, not corrected for several rows
  Interval interval;     ///< 95 % confidence interval of the difference, not corrected
};

/// Student's t with a variance over seeds that base and row share. None without a variance above 0,
/// and for means that are not finite.
std::optional<SeedTest> pooled_test(const SeedMean& base, const SeedMean& row,
                                    const SeedVariance& variance);

/// Student's t test of the differences row - base of the same runs, evaluated in two ways: one
/// value for each seed. None for fewer than two seeds, and if all differences are equal.
std::optional<SeedTest> paired_test(std::span<const double> base, std::span<const double> row);

struct RowTest {
  bool unstable = false;  ///< see unstable_rows
  std::optional<SeedTest> test;
};

/// For every row the pooled_test of its difference from the row baselines[i], with the pooled
/// variance of all rows but unstable ones; none for a row that is its own baseline, as the first
/// one is, and for rows without a mean or with values that are not finite. With an unstable row or
/// baseline, the variance is that of the more unstable one of the two.
///
/// `first_equivalent[i]` is the first row that trains the same weights as row i: itself, unless the
/// rows differ in their evaluation alone (empty: all train their own). Scores of the same weights
/// are not independent, so that only the first of such rows enters the pooled variance.
///
/// With few seeds per row the variance of two rows is a poor estimate: for two seeds each it has
/// two degrees of freedom, and the critical t after correction for 18 rows is 18.9; that of 19 rows
/// has 19 (3.4). This assumes equal variances. Simulation with 19 rows of two seeds, one with three
/// times the standard deviation: p < 0.05 by chance in 26 % of tables, 9 % after Holm (three seeds:
/// 30 %, 11 %).
std::vector<RowTest> test_rows(std::span<const std::optional<SeedMean>> rows,
                               std::span<const size_t> baselines,
                               std::span<const size_t> first_equivalent = {});

// Bootstrap over sentences and seeds together (joint_bootstrap.cpp): significance of differences
// that would hold on another test set and with other seeds.

/// The outputs of a system for the same test set, one per seed.
using SystemRuns = std::vector<ResampledSystem>;

/// The difference system - baseline over the resamples.
struct JointDifference {
  /// Two-sided: twice the smaller share of resamples with a difference ≤ 0 or ≥ 0, with add-one
  /// smoothing. Unlike sacreBLEU's paired test (resample_systems) it accounts for skewed
  /// distributions: a single lucky sentence is missing from 37 % of the resamples.
  double p_value = 1.0;
  Interval interval;  ///< 95 %, percentiles
};

/// One entry per system. Each resample draws sentences (the same for all systems, since they
/// translate the same text) and, within each system, as many runs as it has, all with replacement;
/// a system's score is the mean over the drawn runs of their scores on the drawn sentences. With
/// one run per system only sentences vary. With few runs the deviation between seeds is
/// underestimated by a factor of √((n - 1) / n); a t test over seeds does not have this bias. The
/// runs of the systems in `paired` (indices) are those of the baseline, evaluated differently: both
/// draw the same runs, so that differences between seeds cancel.
///
/// options.samples > 0. Throws DataError if a system has no run, if a paired one has a different
/// number of runs from the baseline, or if the numbers of sentences differ or are 0.
std::vector<JointDifference> joint_bootstrap(const SystemRuns& baseline,
                                             std::span<const SystemRuns> systems,
                                             const std::set<size_t>& paired = {},
                                             const BootstrapOptions& options = {.samples = 10000});

}  // namespace attn
