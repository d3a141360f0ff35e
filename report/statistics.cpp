#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attn {
namespace {

constexpr double kPrecision = 1e-14;

// The continued fraction of I_x(a, b), by Lentz's method; converges fast for x < (a + 1) / (a + b +
// 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 100'000;  // the number needed grows with the square root of a and b
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)), product = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1.0 / not_zero(1.0 + even * d);
    c = not_zero(1.0 + even / c);
    product *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / not_zero(1.0 + odd * d);
    c = not_zero(1.0 + odd / c);
    product *= c * d;
    if (std::abs(c * d - 1.0) < 1e-16) break;
  }
  return product;
}

// x^a (1 - x)^b / (a B(a, b)), the difference I_x(a, b) - I_x(a + 1, b). Takes 1 - x as well, which
// loses its digits near x = 1.
double beta_term(double a, double b, double x, double complement) {
  return std::exp(a * std::log(x) + b * std::log(complement) + std::lgamma(a + b) -
                  std::lgamma(a + 1.0) - std::lgamma(b));
}

// The regularized incomplete beta function I_x(a, b); complement = 1 - x.
double incomplete_beta(double a, double b, double x, double complement) {
  if (x <= 0.0) return 0.0;
  if (complement <= 0.0) return 1.0;
  if (x < (a + 1.0) / (a + b + 2.0)) return beta_term(a, b, x, complement) * beta_fraction(a, b, x);
  return 1.0 - beta_term(b, a, complement, x) * beta_fraction(b, a, complement);
}

// The root of a monotonic function between `low` and `high`, where its signs differ: Ridders'
// method (1979).
template <class Function>
double root_between(const Function& function, double low, double high) {
  double at_low = function(low), at_high = function(high);
  double root = high;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high), at_middle = function(middle);
    const double scale = std::sqrt(at_middle * at_middle - at_low * at_high);
    if (scale == 0.0) return middle;
    const double step = (middle - low) * at_middle / scale;
    const double next = at_low > at_high ? middle + step : middle - step;
    const bool settled = std::abs(next - root) <= kPrecision * std::abs(next);
    root = next;
    const double at_root = function(root);
    if (settled || at_root == 0.0) break;
    // The next bracket is the smallest of the four points around the root.
    if (std::signbit(at_middle) != std::signbit(at_root)) {
      low = std::min(middle, root), high = std::max(middle, root);
      at_low = middle < root ? at_middle : at_root;
      at_high = middle < root ? at_root : at_middle;
    } else if (std::signbit(at_low) != std::signbit(at_root)) {
      high = root, at_high = at_root;
    } else {
      low = root, at_low = at_root;
    }
  }
  return root;
}

// The smallest power of two at which a predicate holds that stays true above.
template <class Predicate>
double doubled_until(const Predicate& holds) {
  double value = 1.0;
  while (!holds(value) && value < std::numeric_limits<double>::max() / 4) value *= 2.0;
  return value;
}

// t_test_power with its critical value squared.
double power_beyond(double critical_squared, double noncentrality, double degrees) {
  const double x = critical_squared / (degrees + critical_squared);
  const double complement = degrees / (degrees + critical_squared);
  const double mean = 0.5 * noncentrality * noncentrality;
  if (mean == 0.0) return 1.0 - incomplete_beta(0.5, 0.5 * degrees, x, complement);
  double below = incomplete_beta(0.5, 0.5 * degrees, x, complement);
  double term = beta_term(0.5, 0.5 * degrees, x, complement);
  double log_weight = -mean, sum = 0.0, weights = 0.0;
  for (int64_t j = 0; weights < 1.0 - 1e-15; ++j) {
    const double weight = std::exp(log_weight), a = 0.5 + static_cast<double>(j);
    sum += weight * below;
    weights += weight;
    if (static_cast<double>(j) > mean && weight < 1e-18) break;
    below = std::max(below - term, 0.0);
    term *= x * (a + 0.5 * degrees) / (a + 1.0);
    log_weight += std::log(mean) - std::log(static_cast<double>(j + 1));
  }
  return 1.0 - sum;
}

double critical_t(double degrees, double level) {
  return student_t_quantile(1.0 - 0.5 * level, degrees);
}

// The noncentrality at which the power is reached.
double detectable_noncentrality(double critical, double degrees, double power) {
  const auto missing = [&](double noncentrality) {
    return power - power_beyond(critical * critical, noncentrality, degrees);
  };
  const double high = doubled_until([&](double value) { return missing(value) < 0.0; });
  return root_between(missing, 0.0, high);
}

}  // namespace

double student_t_p_value(double t, double degrees) {
  const double square = t * t;
  if (std::isinf(square)) return 0.0;
  return incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + square),
                         square / (degrees + square));
}

double student_t_quantile(double probability, double degrees) {
  if (probability == 0.5) return 0.0;
  if (probability < 0.5) return -student_t_quantile(1.0 - probability, degrees);
  const double tails = 2.0 * (1.0 - probability);
  // In logarithms, since far tails are all almost 0.
  const auto above = [&](double t) { return std::log(student_t_p_value(t, degrees) / tails); };
  return root_between(above, 0.0, doubled_until([&](double t) { return above(t) < 0.0; }));
}

double f_p_value(double ratio, double numerator_degrees, double denominator_degrees) {
  const double scaled = numerator_degrees * ratio;
  if (std::isinf(scaled)) return 0.0;
  const double sum = denominator_degrees + scaled;
  return incomplete_beta(0.5 * denominator_degrees, 0.5 * numerator_degrees,
                         denominator_degrees / sum, scaled / sum);
}

double t_test_power(double noncentrality, double degrees, double level) {
  const double critical = critical_t(degrees, level);
  return power_beyond(critical * critical, noncentrality, degrees);
}

double minimum_detectable_difference(double error, double degrees, double level, double power) {
  return error * detectable_noncentrality(critical_t(degrees, level), degrees, power);
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double running_max = 0.0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    running_max = std::max(running_max, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = running_max;
  }
  return adjusted;
}

}  // namespace attn
