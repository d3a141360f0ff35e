#include "app/sweep/planned_power.h"

#include <algorithm>
#include <vector>

#include "app/experiment/run_result.h"
#include "base/format.h"
#include "report/statistics.h"

namespace attn {
namespace {

// The values of a metric in the finished runs of the base.
std::vector<double> base_values(const SweepPlan& plan, const MetricFacts& facts) {
  std::vector<double> values;
  for (const PlannedRun& run : plan.runs) {
    if (run.row != 0) continue;
    const auto result = finished_result(run.directory, run.experiment.train);
    if (!result) continue;
    const auto found = result->results.find(plan.metrics.evaluators[facts.metric]);
    if (found == result->results.end()) continue;
    const auto value = found->second.values.find(facts.key);
    if (value != found->second.values.end()) values.push_back(value->second);
  }
  return values;
}

}  // namespace

std::string planned_power(const SweepPlan& plan) {
  std::vector<int64_t> seeds(plan.rows.size(), 0);
  for (const PlannedRun& run : plan.runs) ++seeds[run.row];
  int64_t fewest = 0;  // of the rows that are trained, without the base
  for (size_t i = 1; i < seeds.size(); ++i) {
    if (seeds[i] > 0) fewest = fewest == 0 ? seeds[i] : std::min(fewest, seeds[i]);
  }
  if (seeds.empty() || seeds.front() == 0 || fewest == 0) return "";
  const auto deviations = planned_detectable_difference(1.0, seeds.front(), fewest);
  if (!deviations) return "";
  std::string text = format(
      "with %lld seeds of the base and %lld of a row, a difference of %.1f standard deviations "
      "between seeds can be detected (power 0.8 at the level 0.05)",
      static_cast<long long>(seeds.front()), static_cast<long long>(fewest), *deviations);
  size_t finished = 0;
  std::string differences;
  for (const MetricFacts& facts : kMetrics) {
    const std::vector<double> values = base_values(plan, facts);
    const auto mean = seed_mean(values);
    if (!mean || !mean->deviation) continue;
    finished = values.size();
    differences += differences.empty() ? "" : ", ";
    differences += format("%.2f %s", *deviations * *mean->deviation, facts.title);
  }
  if (finished == 0) return text;
  return text.append(": ")
      .append(differences)
      .append(format(" by the %zu finished seeds of the base", finished));
}

}  // namespace attn
