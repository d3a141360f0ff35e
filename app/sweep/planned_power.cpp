#include "app/sweep/planned_power.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/sweep/collection.h"
#include "base/format.h"
#include "report/seed_tests.h"

namespace attn {
namespace {

// For each metric the rows of a sweep that train their own weights, as far as they are finished.
PerMetric<std::vector<SeedMean>> finished_rows(const SweepPlan& plan,
                                               const std::vector<size_t>& first_equivalent,
                                               const std::filesystem::path& collection) {
  PerMetric<std::vector<std::vector<double>>> scores;
  for (const MetricFacts& facts : kMetrics) scores[facts.metric].resize(plan.rows.size());
  for (const PlannedRun& run : plan.runs) {
    if (first_equivalent[run.row] != run.row) continue;
    const auto directory = finished_run(run, collection);
    if (!directory) continue;
    const auto result = read_result(*directory);
    if (!result) continue;
    for (const MetricFacts& facts : kMetrics) {
      const auto score = result->score(plan.metrics.evaluators[facts.metric], facts.key);
      if (score) scores[facts.metric][run.row].push_back(*score);
    }
  }
  PerMetric<std::vector<SeedMean>> rows;
  for (const MetricFacts& facts : kMetrics) {
    for (const std::vector<double>& of_row : scores[facts.metric]) {
      if (const auto mean = seed_mean(of_row)) rows[facts.metric].push_back(*mean);
    }
  }
  return rows;
}

}  // namespace

std::string planned_power(const SweepPlan& plan, const std::filesystem::path& collection) {
  std::vector<int64_t> seeds(plan.rows.size(), 0);
  for (const PlannedRun& run : plan.runs) ++seeds[run.row];
  std::vector<size_t> baselines;
  std::vector<Experiment> configs;
  for (const PlannedRow& row : plan.rows) {
    configs.push_back(row.experiment);
    baselines.push_back(row.baseline);
  }
  const std::vector<size_t> first_equivalent = first_equivalent_runs(configs);
  const auto planned = planned_detectable_difference(seeds, baselines, first_equivalent);
  if (!planned) return "";
  std::string text = format(
      "minimum detectable difference: %.1f standard deviations across seeds (%lld seeds of the "
      "baseline and %lld of a row, power 0.8, α = 0.05)",
      planned->deviations, static_cast<long long>(planned->baseline_seeds),
      static_cast<long long>(planned->seeds));
  const PerMetric<std::vector<SeedMean>> finished =
      finished_rows(plan, first_equivalent, collection);
  double degrees = 0.0;
  std::string differences;
  for (const MetricFacts& facts : kMetrics) {
    const std::vector<SeedMean>& rows = finished[facts.metric];
    const auto variance = pooled_variance(rows, high_variance_rows(rows));
    if (!variance) continue;
    degrees = std::max(degrees, variance->degrees_of_freedom);
    differences += differences.empty() ? "" : ", ";
    differences +=
        format("%.2f %s", planned->deviations * std::sqrt(variance->variance), facts.title);
  }
  if (degrees == 0.0) return text;
  return text.append(", i.e. ")
      .append(differences)
      .append(format(" at the standard deviation of the finished runs (%.0f degree%s of freedom)",
                     degrees, degrees == 1.0 ? "" : "s"));
}

}  // namespace attn
