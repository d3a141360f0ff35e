#include "app/sweep/schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

#include "app/sweep/costs.h"

namespace attn {
namespace {

constexpr double kOwnRate = 0.02;  // share of a run after which its own rate is used

// Time and FLOPs of what has been trained.
struct Trained {
  double seconds = 0.0, flops = 0.0;

  void add(const RunWork& run) {
    seconds += run.seconds;
    flops += run.share * run.flops;
  }
  bool any() const { return flops > 0.0 && seconds > 0.0; }
  double rate() const { return seconds / flops; }
};

}  // namespace

double run_flops(const PlannedRun& run) {
  const int64_t vocabulary = run.experiment.data.vocab_size;
  return static_cast<double>(run.experiment.train.steps) *
         update_flops(run.experiment, {vocabulary, vocabulary});
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

std::optional<double> seconds_left(std::span<const RunWork> runs, int64_t jobs) {
  Trained here, earlier;
  std::map<size_t, Trained> rows;
  for (const RunWork& run : runs) {
    (run.earlier ? earlier : here).add(run);
    if (!run.earlier) rows[run.row].add(run);
  }
  if (!here.any() && !earlier.any()) return {};
  const double others = here.any() ? here.rate() : earlier.rate();
  std::vector<double> running, waiting;
  for (const RunWork& run : runs) {
    const bool ended =
        run.stage == RunWork::Stage::finished || run.stage == RunWork::Stage::stopped;
    if (ended) continue;
    const Trained& row = rows[run.row];
    double rate = row.any() ? row.rate() : others;
    const bool has_rate = run.share >= kOwnRate && run.seconds > 0.0;
    if (has_rate && !run.earlier) rate = run.seconds / (run.share * run.flops);
    const bool started = run.stage == RunWork::Stage::running;
    (started ? running : waiting).push_back((1.0 - run.share) * run.flops * rate);
  }
  return makespan(running, waiting, jobs);
}

}  // namespace attn
