// Student's t, and Holm's correction for several tests.
#pragma once

#include <span>
#include <vector>

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

}  // namespace attn
