// Tests of two means over seeds: Student's t, Welch's test, Holm's correction, power.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace attn {

/// Significance level.
inline constexpr double kSignificance = 0.05;
/// Power at which the smallest detectable difference is stated.
inline constexpr double kPower = 0.8;

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Mean over finished seeds, and their sample standard deviation if there are at least two.
struct SeedMean {
  double mean = 0.0;
  std::optional<double> deviation;
  int64_t seeds = 0;
};
std::optional<SeedMean> seed_mean(std::span<const double> values);

/// Two-sided p-value of Student's t: the probability that |t| is exceeded by chance. `degrees` of
/// freedom > 0 need not be an integer. By the regularized incomplete beta function I_x(degrees / 2,
/// 1 / 2) at x = degrees / (degrees + t²) (Abramowitz and Stegun, 26.5.27), as a continued fraction
/// (DLMF 8.17.22).
double student_t_p_value(double t, double degrees);

/// The t below which Student's t falls with this probability, in (0, 1).
double student_t_quantile(double probability, double degrees);

/// The methods for two means over seeds.
enum class SeedTestKind {
  pooled,  ///< Student's t with pooled variance: both rows are assumed to vary equally
  welch    ///< Welch's t (Welch 1947), with Satterthwaite's degrees of freedom
};

/// A test of the difference row - base. Neither the interval nor `detectable` is corrected for
/// several rows.
struct SeedTest {
  SeedTestKind kind = SeedTestKind::pooled;
  double error = 0.0;    ///< standard error of the difference
  double degrees = 0.0;  ///< of freedom
  double p_value = 1.0;  ///< two-sided
  Interval interval;     ///< 95 % confidence interval of the difference
  /// smallest_detectable_difference at this standard error: the standard error is an estimate, so
  /// this is one as well.
  double detectable = 0.0;
};

/// None unless both rows have at least two seeds and one of them a deviation above 0, and for means
/// that are not finite.
std::optional<SeedTest> welch_test(const SeedMean& base, const SeedMean& row);

/// A single seed does not contribute to the variance. None if no row has two seeds, or if all of
/// them are equal: then there is no estimate of how seeds vary. None for means that are not finite.
std::optional<SeedTest> pooled_test(const SeedMean& base, const SeedMean& row);

/// welch_test if both rows have at least three seeds, otherwise pooled_test.
///
/// Welch's test allows unequal variances, but does not keep its level with two seeds (false
/// positives at the level 5 %: 9 % with eight seeds vs. two, 2 % with two vs. two) and is undefined
/// for one seed. From three seeds on it is between 3.5 % (three vs. three) and 8 % (three vs. 20),
/// also if one row's standard deviation is twice the other's; the pooled test then makes up to 23 %
/// (20 vs. three).
std::optional<SeedTest> seed_test(const SeedMean& base, const SeedMean& row);

/// Power of the two-sided t test at the level `level`, for a true difference of `noncentrality`
/// standard errors: 1 - P(|T| < t_{1 - level/2}) with noncentral T, whose square has the noncentral
/// F distribution: a Poisson mixture of incomplete beta functions (Abramowitz and Stegun, 26.6.20).
double t_test_power(double noncentrality, double degrees, double level = kSignificance);

/// The smallest true difference that the two-sided t test finds with probability `power`: the
/// standard error times the noncentrality at which t_test_power is `power`. Exact for the pooled
/// test; an approximation for Welch's, whose degrees of freedom are estimated.
double smallest_detectable_difference(double error, double degrees, double level = kSignificance,
                                      double power = kPower);

/// The same before a sweep, in the metric's unit, for rows of `seeds` and a base of `base_seeds`
/// seeds that vary with this standard deviation (pooled test). None if there would be no test:
/// fewer than three seeds in all, or none in one row.
std::optional<double> planned_detectable_difference(double deviation, int64_t base_seeds,
                                                    int64_t seeds);

/// p-values adjusted for their number by Holm's step-down method (Holm 1979), in the given order:
/// with those below a level called significant, the probability of any false positive is at most
/// that level, whatever the dependence between the tests.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace attn
