// Means over seeds, differences from the baseline of each row, and their significance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/results.h"
#include "report/seed_tests.h"

namespace attn {

struct Difference {
  std::optional<double> ours;            ///< row - baseline
  std::optional<double> paper;           ///< the same in the paper
  bool unstable = false;                 ///< see unstable_rows
  bool paired = false;                   ///< the baseline's weights: compared seed by seed
  std::optional<SeedTest> test;          ///< test_rows or, if paired, paired_test
  std::optional<double> holm;            ///< test's p-value, adjusted for the table's rows
  std::optional<JointDifference> joint;  ///< bootstrap over sentences and seeds
  std::optional<double> p_value;         ///< see compare()
  bool significant = false;              ///< see compare()
  /// Its sign compared with the paper's: "agrees" or "disagrees" if significant, "inconclusive" if
  /// not; empty for the first row, without a test and without a difference in the paper.
  std::string verdict;

  /// 95 %, over seeds; without a test over seeds, over sentences.
  std::optional<Interval> interval() const {
    if (test) return test->interval;
    return joint ? std::optional(joint->interval) : std::nullopt;
  }
};

struct RowComparison {
  PerMetric<std::optional<SeedMean>> means;
  PerMetric<Difference> differences;
};

/// One entry per row. The p-value of a difference is that of
/// - the test over seeds, adjusted by Holm's method for the rows tested in this metric. It needs a
///   row of the table with at least two seeds that are not all equal, and assumes that the rows
///   vary equally between seeds;
/// - for a metric with a test over sentences (MetricFacts::bootstrap): the larger one of this and
///   of the bootstrap over sentences and seeds, so that a difference is significant only if both
///   tests find it. Where the test over seeds is impossible, the bootstrap's, not adjusted.
///
/// A difference is significant if its p-value is below kSignificance and, as printed, it is more
/// than one unit of the last decimal: 0.00 → 0.01 can be the rounding of two means.
std::vector<RowComparison> compare(const SweepResults& results);

}  // namespace attn
