// Distributions for tests of means: Student's t, F, the power of t; Holm's correction.
#pragma once

#include <span>
#include <vector>

namespace attn {

/// Significance level.
inline constexpr double kSignificance = 0.05;
/// Power at which the minimum detectable difference is stated.
inline constexpr double kPower = 0.8;

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Two-sided p-value of Student's t: the probability that |t| is exceeded by chance. `degrees` of
/// freedom > 0 need not be an integer. By the regularized incomplete beta function I_x(degrees / 2,
/// 1 / 2) at x = degrees / (degrees + t²) (Abramowitz and Stegun, 26.5.27), as a continued fraction
/// (DLMF 8.17.22).
double student_t_p_value(double t, double degrees);

/// The t below which Student's t falls with this probability, in (0, 1).
double student_t_quantile(double probability, double degrees);

/// The probability that F with these degrees of freedom is exceeded by chance, for `ratio` >= 0 of
/// two variances (Abramowitz and Stegun, 26.6.2).
double f_p_value(double ratio, double numerator_degrees, double denominator_degrees);

/// Power of the two-sided t test at the level `level`, for a true difference of `noncentrality`
/// standard errors: 1 - P(|T| < t_{1 - level/2}) with noncentral T, whose square has the noncentral
/// F distribution: a Poisson mixture of incomplete beta functions (Abramowitz and Stegun, 26.6.20).
double t_test_power(double noncentrality, double degrees, double level = kSignificance);

/// The smallest true difference that the two-sided t test finds with probability `power`: the
/// standard error times the noncentrality at which t_test_power is `power`. Exact for the pooled
/// test; an approximation for Welch's, whose degrees of freedom are estimated.
double minimum_detectable_difference(double error, double degrees, double level = kSignificance,
                                     double power = kPower);

/// p-values adjusted for their number by Holm's step-down method (Holm 1979), in the given order:
/// with those below a level called significant, the probability of any false positive is at most
/// that level, whatever the dependence between the tests.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace attn
