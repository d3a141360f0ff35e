#include "app/sweep/schedule.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "app/sweep/row_costs.h"

namespace attn {

double run_flops(const PlannedRun& run) {
  return static_cast<double>(run.experiment.train.steps) *
         update_flops(run.experiment, run.experiment.data.vocab_size);
}

std::vector<size_t> start_order(const SweepPlan& plan) {
  // The seed's number within its row: runs of a row are in the order of their seeds.
  std::vector<size_t> seed(plan.runs.size()), seeds(plan.rows.size(), 0);
  std::vector<double> flops;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    seed[i] = seeds[plan.runs[i].row]++;
    flops.push_back(run_flops(plan.runs[i]));
  }
  std::vector<size_t> order(plan.runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return seed[a] != seed[b] ? seed[a] < seed[b] : flops[a] > flops[b];
  });
  return order;
}

double makespan(std::span<const double> running, std::span<const double> waiting, int64_t jobs) {
  std::priority_queue<double, std::vector<double>, std::greater<>> ends(
      std::greater<>(), {running.begin(), running.end()});
  double last = running.empty() ? 0.0 : *std::max_element(running.begin(), running.end());
  while (static_cast<int64_t>(ends.size()) < jobs) ends.push(0.0);
  for (const double seconds : waiting) {
    const double end = ends.top() + seconds;
    ends.pop();
    ends.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace attn
