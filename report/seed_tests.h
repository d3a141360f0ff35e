// Means over seeds, and tests of their differences: Student's t with the variance of all rows of a
// table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/statistics.h"

namespace attn {

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
/// 30
/// %, 11 %).
std::vector<RowTest> test_rows(std::span<const std::optional<SeedMean>> rows,
                               std::span<const size_t> baselines,
                               std::span<const size_t> first_equivalent = {});

}  // namespace attn
