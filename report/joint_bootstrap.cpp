#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "report/seed_tests.h"

namespace attn {
namespace {

// How often each of these runs is drawn, with replacement.
std::vector<int64_t> draw_runs(size_t runs, Random& random) {
  std::vector<int64_t> times(runs);
  for (size_t i = 0; i < runs; ++i) ++times[random.below(runs)];
  return times;
}

// Mean score of the drawn runs on these sentences.
double drawn_score(const SystemRuns& system, std::span<const int64_t> times,
                   std::span<const uint32_t> sentences) {
  double sum = 0.0;
  for (size_t i = 0; i < system.size(); ++i) {
    if (times[i] > 0) sum += static_cast<double>(times[i]) * system[i].score(sentences);
  }
  return sum / static_cast<double>(system.size());
}

JointDifference described(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end());
  const auto from_zero = std::lower_bound(differences.begin(), differences.end(), 0.0);
  const auto above_zero = std::upper_bound(differences.begin(), differences.end(), 0.0);
  const auto tail = std::min(above_zero - differences.begin(), differences.end() - from_zero);
  const size_t cut = differences.size() / 40;
  return {.p_value = std::min(1.0, 2.0 * static_cast<double>(tail + 1) /
                                       static_cast<double>(differences.size() + 1)),
          .interval = {differences[cut], differences[differences.size() - cut - 1]}};
}

}  // namespace

std::vector<JointDifference> joint_bootstrap(const SystemRuns& baseline,
                                             std::span<const SystemRuns> systems,
                                             const std::set<size_t>& paired,
                                             const BootstrapOptions& options) {
  SystemRuns all = baseline;
  for (const SystemRuns& system : systems) {
    require_same_sentences(system);
    all.insert(all.end(), system.begin(), system.end());
  }
  require_same_sentences(all);
  for (const size_t i : paired) {
    if (systems[i].size() != baseline.size()) {
      throw DataError("paired bootstrap: the systems have different numbers of runs");
    }
  }
  std::vector<uint32_t> sentences(baseline.front().sentences);
  Random random(options.seed);
  std::vector<std::vector<double>> differences(systems.size());
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    for (uint32_t& sentence : sentences) {
      sentence = static_cast<uint32_t>(random.below(sentences.size()));
    }
    const std::vector<int64_t> of_baseline = draw_runs(baseline.size(), random);
    const double base = drawn_score(baseline, of_baseline, sentences);
    for (size_t i = 0; i < systems.size(); ++i) {
      const auto times = paired.contains(i) ? of_baseline : draw_runs(systems[i].size(), random);
      differences[i].push_back(drawn_score(systems[i], times, sentences) - base);
    }
  }
  std::vector<JointDifference> out;
  for (std::vector<double>& of_system : differences) out.push_back(described(std::move(of_system)));
  return out;
}

}  // namespace attn
