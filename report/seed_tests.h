// Means over seeds and tests of their differences from the base: Student's t with the variance of
// all rows of a table, and Welch's test of two rows.
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
/// values that are not finite do not contribute, nor rows that `left_out` marks (empty: none). None
/// if no row is left.
std::optional<SeedVariance> pooled_variance(std::span<const SeedMean> rows,
                                            const std::vector<bool>& left_out = {});

/// For each row, whether it varies more between seeds than the others do: an F test of its variance
/// against the pooled variance of the others, at the level 0.05 divided by the number of rows left.
/// The row with the smallest p-value is removed and the others are tested again, for at most half
/// of the rows. All rows removed up to the last p-value below the level are high-variance rows, so
/// that two such rows cannot hide each other (Rosner 1983). There are none if fewer than three rows
/// vary.
std::vector<bool> high_variance_rows(std::span<const SeedMean> rows);

/// A test of the difference row - base. Neither the interval nor `detectable` is corrected for
/// several rows.
struct SeedTest {
  double error = 0.0;  ///< standard error of the difference
  double degrees_of_freedom = 0.0;
  double p_value = 1.0;  ///< two-sided
  Interval interval;     ///< 95 % confidence interval of the difference
  /// minimum_detectable_difference at this standard error: the standard error is an estimate, so
  /// this is one as well.
  double detectable = 0.0;
};

/// Student's t with a variance over seeds that base and row share. None without a variance above 0,
/// and for means that are not finite.
std::optional<SeedTest> pooled_test(const SeedMean& base, const SeedMean& row,
                                    const SeedVariance& variance);

/// Welch's t (Welch 1947), with Satterthwaite's degrees of freedom: the variances may differ. None
/// if both are 0 or one has no degrees of freedom, and for means that are not finite.
std::optional<SeedTest> welch_test(const SeedMean& base, const SeedVariance& of_base,
                                   const SeedMean& row, const SeedVariance& of_row);
/// The same with each row's own variance. None unless both rows have at least two seeds.
///
/// It does not keep its level with two seeds (false positives at the level 5 %: 9 % with eight
/// seeds vs. two, 2 % with two vs. two). From three seeds on it is between 3.5 % (three vs. three)
/// and 8 % (three vs. 20), also if one row's standard deviation is twice the other's.
std::optional<SeedTest> welch_test(const SeedMean& base, const SeedMean& row);

/// The tests of a row of a table.
struct SeedTests {
  bool high_variance = false;          ///< see high_variance_rows
  std::optional<SeedTest> over_seeds;  ///< pooled_test, or welch_test with a high-variance row
  std::optional<SeedTest> welch;       ///< welch_test of the two rows, if both have three seeds
};

/// For every row, the tests of its difference from the row baselines[i]; none for a row that is its
/// own baseline, as the first one is. `over_seeds` has the pooled variance of all rows except
/// high-variance ones; a high-variance row, also a baseline, has its own variance. Rows without a
/// mean or with values that are not finite are not tested.
///
/// `first_equivalent[i]` is the first row that trains the same weights as row i: itself, unless the
/// rows differ in their evaluation alone (empty: all train their own). Scores of the same weights
/// are not independent, so that only the first of such rows enters the pooled variance; the others
/// have its variance if it is a high-variance row.
///
/// With few seeds per row the variance of two rows is a poor estimate: for two seeds each it has
/// two degrees of freedom, and the critical t after correction for 18 rows is 18.9; that of 19 rows
/// has 19 (3.4). This assumes equal variances. Simulation with 19 rows of two seeds, one with three
/// times the standard deviation: p < 0.05 by chance in 24 % of tables, 9 % after Holm (three seeds:
/// 18 %, 7 %), because the F test detects only a quarter (half) of such rows.
std::vector<SeedTests> seed_tests(std::span<const std::optional<SeedMean>> rows,
                                  std::span<const size_t> baselines,
                                  std::span<const size_t> first_equivalent = {});

/// Student's t test of the differences row - base of the same runs, evaluated in two ways: one
/// value for each seed. None for fewer than two seeds, and if all differences are equal.
std::optional<SeedTest> paired_test(std::span<const double> base, std::span<const double> row);

/// The minimum detectable difference of a planned sweep.
struct PlannedDifference {
  double deviations = 0.0;  ///< in standard deviations over seeds
  int64_t baseline_seeds = 0, seeds = 0;
};

/// The smallest difference that pooled_test finds with probability kPower, before a sweep, in the
/// row with the fewest seeds, its baseline's included; 0 seeds are a row that is not trained. None
/// if there would be no test: fewer than two seeds in every row, or no row with its baseline.
/// `first_equivalent` as in seed_tests.
std::optional<PlannedDifference> planned_detectable_difference(
    std::span<const int64_t> seeds, std::span<const size_t> baselines,
    std::span<const size_t> first_equivalent = {});

}  // namespace attn
