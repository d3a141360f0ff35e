#include "report/seed_tests.h"

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

constexpr double kUnstable = 5.0;  // times the median deviation

double squared(const std::optional<double>& deviation) {
  const double value = deviation.value_or(0.0);
  return value * value;
}

bool is_finite(const SeedMean& row) {
  return std::isfinite(row.mean) && std::isfinite(squared(row.deviation));
}

// Not the seeds of a collapsed model, all of which have the same score: they say nothing about the
// variance of the others, and their zeros would lower its estimate.
bool has_variance(const SeedMean& row) {
  return row.seeds >= 2 && is_finite(row) && squared(row.deviation) > 0.0;
}

SeedVariance own_variance(const SeedMean& row) {
  return {.variance = squared(row.deviation),
          .degrees_of_freedom = static_cast<double>(row.seeds - 1)};
}

SeedTest student_t_test(double difference, double error, double degrees) {
  const double reach = error * student_t_critical(kSignificance, degrees);
  return {.degrees_of_freedom = degrees,
          .p_value = student_t_p_value(difference / error, degrees),
          .interval = {difference - reach, difference + reach}};
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
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double running_max = 0.0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    running_max = std::max(running_max, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = running_max;
  }
  return adjusted;
}

std::optional<SeedMean> seed_mean(std::span<const double> values) {
  if (values.empty()) return {};
  // Relative to the first value, so that equal values have a deviation of exactly 0.
  const double first = std::isfinite(values.front()) ? values.front() : 0.0;
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value - first;
  const double mean = first + sum / n;
  SeedMean out{.mean = mean, .deviation = {}, .seeds = static_cast<int64_t>(values.size())};
  if (values.size() < 2) return out;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  out.deviation = std::sqrt(squares / (n - 1.0));
  return out;
}

std::optional<SeedVariance> pooled_variance(std::span<const SeedMean> rows) {
  double squares = 0.0, degrees = 0.0;
  for (const SeedMean& row : rows) {
    if (!has_variance(row)) continue;
    const SeedVariance of_row = own_variance(row);
    squares += of_row.variance * of_row.degrees_of_freedom;
    degrees += of_row.degrees_of_freedom;
  }
  if (degrees == 0.0) return {};
  return SeedVariance{.variance = squares / degrees, .degrees_of_freedom = degrees};
}

std::vector<bool> unstable_rows(std::span<const SeedMean> rows) {
  std::vector<bool> unstable(rows.size());
  std::vector<double> deviations;
  for (const SeedMean& row : rows) {
    if (has_variance(row)) deviations.push_back(*row.deviation);
  }
  if (deviations.size() < 3) return unstable;  // of two rows, either could be the one
  std::sort(deviations.begin(), deviations.end());
  const double median = deviations[(deviations.size() - 1) / 2];
  for (size_t i = 0; i < rows.size(); ++i) {
    unstable[i] = has_variance(rows[i]) && *rows[i].deviation > kUnstable * median;
  }
  return unstable;
}

std::optional<SeedTest> pooled_test(const SeedMean& base, const SeedMean& row,
                                    const SeedVariance& variance) {
  if (base.seeds < 1 || row.seeds < 1) return {};
  const double seeds = 1.0 / static_cast<double>(base.seeds) + 1.0 / static_cast<double>(row.seeds);
  const double error = std::sqrt(variance.variance * seeds);
  if (!(error > 0.0) || !std::isfinite(error + row.mean - base.mean)) return {};
  return student_t_test(row.mean - base.mean, error, variance.degrees_of_freedom);
}

std::optional<SeedTest> paired_test(std::span<const double> base, std::span<const double> row) {
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(base.size(), row.size()); ++i) {
    differences.push_back(row[i] - base[i]);
  }
  const std::optional<SeedMean> mean = seed_mean(differences);
  if (!mean || !has_variance(*mean)) return {};
  const auto seeds = static_cast<double>(mean->seeds);
  return student_t_test(mean->mean, *mean->deviation / std::sqrt(seeds), seeds - 1.0);
}

std::vector<RowTest> test_rows(std::span<const std::optional<SeedMean>> rows,
                               std::span<const size_t> baselines,
                               std::span<const size_t> first_equivalent) {
  // The row that trained the weights of row i.
  const auto trained_by = [&](size_t i) {
    return first_equivalent.empty() ? i : first_equivalent[i];
  };
  std::vector<SeedMean> means;  // each training once
  for (size_t i = 0; i < rows.size(); ++i) {
    means.push_back(trained_by(i) == i ? rows[i].value_or(SeedMean{}) : SeedMean{});
  }
  const std::vector<bool> unstable = unstable_rows(means);
  std::vector<SeedMean> stable = means;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (unstable[i]) stable[i] = {};
  }
  const auto common = pooled_variance(stable);
  std::vector<RowTest> tests(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t base = baselines[i];
    tests[i].unstable = unstable[trained_by(i)];
    if (i == base || !rows[i] || !rows[base] || !common) continue;
    SeedVariance variance = *common;
    for (const size_t row : {trained_by(i), trained_by(base)}) {
      const SeedVariance own = own_variance(means[row]);
      if (unstable[row] && own.variance > variance.variance) variance = own;
    }
    if (is_finite(*rows[i]) && is_finite(*rows[base])) {
      tests[i].test = pooled_test(*rows[base], *rows[i], variance);
    }
  }
  return tests;
}

}  // namespace attn
