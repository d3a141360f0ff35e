#include "report/seed_tests.h"

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

constexpr double kVarianceLevel = 0.05;  // level of high_variance_rows
constexpr int64_t kSeedsForWelch = 3;

double squared(const std::optional<double>& deviation) {
  const double value = deviation.value_or(0.0);
  return value * value;
}

SeedTest tested(double difference, double error, double degrees) {
  const double reach = error * student_t_quantile(1.0 - 0.5 * kSignificance, degrees);
  return {.error = error,
          .degrees_of_freedom = degrees,
          .p_value = student_t_p_value(difference / error, degrees),
          .interval = {difference - reach, difference + reach},
          .detectable = minimum_detectable_difference(error, degrees)};
}

double standard_error(const SeedVariance& variance, int64_t base_seeds, int64_t seeds) {
  return std::sqrt(variance.variance *
                   (1.0 / static_cast<double>(base_seeds) + 1.0 / static_cast<double>(seeds)));
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

bool has_own_weights(std::span<const size_t> first_equivalent, size_t row) {
  return first_equivalent.empty() || first_equivalent[row] == row;
}

// The p-value of a row's variance against that of the others.
double variance_p_value(std::span<const SeedMean> rows, size_t row, std::vector<bool> left_out) {
  left_out[row] = true;
  const auto others = pooled_variance(rows, left_out);
  if (!others) return 1.0;
  const SeedVariance of_row = own_variance(rows[row]);
  return f_p_value(of_row.variance / others->variance, of_row.degrees_of_freedom,
                   others->degrees_of_freedom);
}

}  // namespace

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
  out.deviation = std::sqrt(squares / (n - 1));
  return out;
}

std::optional<SeedVariance> pooled_variance(std::span<const SeedMean> rows,
                                            const std::vector<bool>& left_out) {
  double squares = 0.0, degrees = 0.0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if ((!left_out.empty() && left_out[i]) || !has_variance(rows[i])) continue;
    const SeedVariance of_row = own_variance(rows[i]);
    squares += of_row.variance * of_row.degrees_of_freedom;
    degrees += of_row.degrees_of_freedom;
  }
  if (degrees == 0.0) return {};
  return SeedVariance{.variance = squares / degrees, .degrees_of_freedom = degrees};
}

std::vector<bool> high_variance_rows(std::span<const SeedMean> rows) {
  std::vector<bool> removed(rows.size()), high_variance(rows.size());
  const auto varying = std::count_if(rows.begin(), rows.end(), has_variance);
  if (varying < 3) return high_variance;  // of two rows, either could be the one
  for (int64_t i = 0; i < varying / 2; ++i) {
    size_t lowest = rows.size();
    double p_value = 2.0;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (removed[row] || !has_variance(rows[row])) continue;
      const double of_row = variance_p_value(rows, row, removed);
      if (of_row < p_value) lowest = row, p_value = of_row;
    }
    removed[lowest] = true;
    if (p_value * static_cast<double>(varying - i) < kVarianceLevel) high_variance = removed;
  }
  return high_variance;
}

std::optional<SeedTest> pooled_test(const SeedMean& base, const SeedMean& row,
                                    const SeedVariance& variance) {
  if (base.seeds < 1 || row.seeds < 1) return {};
  const double error = standard_error(variance, base.seeds, row.seeds);
  if (!(error > 0.0) || !std::isfinite(error + row.mean - base.mean)) return {};
  return tested(row.mean - base.mean, error, variance.degrees_of_freedom);
}

std::optional<SeedTest> welch_test(const SeedMean& base, const SeedVariance& of_base,
                                   const SeedMean& row, const SeedVariance& of_row) {
  const double base_part = of_base.variance / static_cast<double>(base.seeds);
  const double row_part = of_row.variance / static_cast<double>(row.seeds);
  const double variance = base_part + row_part;
  if (!(variance > 0.0) || !std::isfinite(variance + row.mean - base.mean)) return {};
  if (of_base.degrees_of_freedom < 1.0 || of_row.degrees_of_freedom < 1.0) return {};
  // As shares of the variance, since squares of small variances would underflow.
  const double base_share = base_part / variance, row_share = row_part / variance;
  const double degrees = 1.0 / (base_share * base_share / of_base.degrees_of_freedom +
                                row_share * row_share / of_row.degrees_of_freedom);
  return tested(row.mean - base.mean, std::sqrt(variance), degrees);
}

std::optional<SeedTest> welch_test(const SeedMean& base, const SeedMean& row) {
  if (base.seeds < 2 || row.seeds < 2) return {};
  return welch_test(base, own_variance(base), row, own_variance(row));
}

std::vector<SeedTests> seed_tests(std::span<const std::optional<SeedMean>> rows,
                                  std::span<const size_t> baselines,
                                  std::span<const size_t> first_equivalent) {
  std::vector<SeedTests> tests(rows.size());
  std::vector<SeedMean> means, independent;
  for (size_t i = 0; i < rows.size(); ++i) {
    means.push_back(rows[i].value_or(SeedMean{}));
    independent.push_back(has_own_weights(first_equivalent, i) ? means[i] : SeedMean{});
  }
  std::vector<bool> high_variance = high_variance_rows(independent);
  const auto common = pooled_variance(independent, high_variance);
  // The row that trained the weights of row i.
  const auto trained_by = [&](size_t i) {
    return first_equivalent.empty() ? i : first_equivalent[i];
  };
  for (size_t i = 0; i < rows.size(); ++i) high_variance[i] = high_variance[trained_by(i)];
  const auto variance_of = [&](size_t i) {
    return high_variance[i] ? own_variance(means[trained_by(i)]) : *common;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    tests[i].high_variance = high_variance[i];
    const size_t k = baselines[i];
    const SeedMean &base = means[k], &row = means[i];
    if (i == k || !rows[i] || !rows[k] || !common || !is_finite(base) || !is_finite(row)) continue;
    tests[i].over_seeds = high_variance[k] || high_variance[i]
                              ? welch_test(base, variance_of(k), row, variance_of(i))
                              : pooled_test(base, row, *common);
    if (std::min(base.seeds, row.seeds) >= kSeedsForWelch) tests[i].welch = welch_test(base, row);
  }
  return tests;
}

std::optional<SeedTest> paired_test(std::span<const double> base, std::span<const double> row) {
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(base.size(), row.size()); ++i) {
    differences.push_back(row[i] - base[i]);
  }
  const std::optional<SeedMean> mean = seed_mean(differences);
  if (!mean || !has_variance(*mean)) return {};
  const auto seeds = static_cast<double>(mean->seeds);
  return tested(mean->mean, std::sqrt(squared(mean->deviation) / seeds), seeds - 1.0);
}

std::optional<PlannedDifference> planned_detectable_difference(
    std::span<const int64_t> seeds, std::span<const size_t> baselines,
    std::span<const size_t> first_equivalent) {
  double degrees = 0.0;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (!has_own_weights(first_equivalent, i)) continue;
    degrees += static_cast<double>(std::max<int64_t>(seeds[i] - 1, 0));
  }
  if (degrees == 0.0) return {};
  const SeedVariance unit{.variance = 1.0, .degrees_of_freedom = degrees};
  PlannedDifference worst;
  double largest = 0.0;
  for (size_t i = 0; i < seeds.size(); ++i) {
    const int64_t of_baseline = seeds[baselines[i]];
    if (baselines[i] == i || seeds[i] == 0 || of_baseline == 0) continue;
    const double error = standard_error(unit, of_baseline, seeds[i]);
    if (error <= largest) continue;
    largest = error;
    worst = {.deviations = 0.0, .baseline_seeds = of_baseline, .seeds = seeds[i]};
  }
  if (largest == 0.0) return {};
  worst.deviations = minimum_detectable_difference(largest, degrees);
  return worst;
}

}  // namespace attn
