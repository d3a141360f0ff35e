#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attn {
namespace {

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

// I_x(a, b). Takes 1 - x as well, which loses its digits near x = 1.
double incomplete_beta(double a, double b, double x, double complement) {
  if (x <= 0.0) return 0.0;
  if (complement <= 0.0) return 1.0;
  if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - incomplete_beta(b, a, complement, x);
  return std::exp(a * std::log(x) + b * std::log(complement) + std::lgamma(a + b) -
                  std::lgamma(a + 1.0) - std::lgamma(b)) *
         beta_fraction(a, b, x);
}

}  // namespace

double student_t_p_value(double t, double degrees) {
  const double square = t * t;
  if (std::isinf(square)) return 0.0;
  return incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + square),
                         square / (degrees + square));
}

double student_t_critical(double probability, double degrees) {
  const auto exceeds = [&](double t) { return student_t_p_value(t, degrees) > probability; };
  double low = 0.0, high = 1.0;
  while (exceeds(high) && std::isfinite(high)) high *= 2.0;
  for (double middle = 0.5 * high; low < middle && middle < high; middle = 0.5 * (low + high)) {
    (exceeds(middle) ? low : high) = middle;
  }
  return high;
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
