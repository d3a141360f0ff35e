#include "report/joint_bootstrap.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/report/sentences.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::sentences;

namespace {

JointDifference joint(const SystemStatistics& base, const SystemStatistics& system,
                      const BootstrapOptions& options = {}) {
  const std::vector<SystemStatistics> systems(1, system);
  return joint_bootstrap(base, systems, {}, {}, options).front();
}

}  // namespace

TEST_CASE("identical outputs do not differ, and clearly better ones do") {
  const SystemStatistics base = {sentences(200), sentences(204)};
  CHECK(joint({sentences(200)}, {sentences(200)}).p_value == 1.0);
  CHECK(joint(base, base).p_value > 0.5);
  const JointDifference better = joint(base, {sentences(300), sentences(296)});
  CHECK(better.p_value < 0.01);
  CHECK(better.interval.low > 0);
  const JointDifference worse = joint({sentences(300), sentences(296)}, base);
  CHECK(worse.p_value < 0.01);
  CHECK(worse.interval.high < 0);
}

TEST_CASE("seeds that vary as much as the difference take its significance back") {
  const SystemStatistics row = {sentences(250), sentences(250)};
  CHECK(joint({sentences(200)}, row).p_value < 0.05);
  const SystemStatistics spread = {sentences(120), sentences(280)};
  CHECK(joint(spread, row).p_value > 0.05);
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  CHECK(width(joint(spread, row).interval) > 2 * width(joint({sentences(200)}, row).interval));
}

TEST_CASE("the interval is as wide as the variances of sentences and of seeds make it") {
  // With sentences that are right or wrong as a whole BLEU is 100 times the share of right ones: a
  // mean over sentences and runs, whose bootstrap variance is known.
  const SystemStatistics base = {sentences(200)};
  SystemStatistics system;
  for (size_t right = 240; right < 304; right += 8) system.push_back(sentences(right));
  const auto runs = static_cast<double>(system.size());
  const auto count = static_cast<double>(base[0].size());
  const auto right = [](const BleuStatistics& of) { return of.counts[0] > 0 ? 100.0 : 0.0; };
  std::vector<double> of_sentences, of_runs(system.size());
  for (size_t i = 0; i < base[0].size(); ++i) {
    double mean = 0.0;
    for (size_t k = 0; k < system.size(); ++k) {
      mean += right(system[k][i]) / runs;
      of_runs[k] += right(system[k][i]) / count;
    }
    of_sentences.push_back(mean - right(base[0][i]));
  }
  const SeedMean sentence = *seed_mean(of_sentences), run = *seed_mean(of_runs);
  const double seeds_variance = std::pow(*run.deviation, 2) * (runs - 1) / runs / runs;
  const double variance = std::pow(*sentence.deviation, 2) / count + seeds_variance;
  CHECK(seeds_variance > 0.1 * variance);
  const Interval found = joint(base, system, {.samples = 4000, .seed = 3}).interval;
  CHECK(0.5 * (found.low + found.high) == Approx(sentence.mean).margin(0.3));
  CHECK(found.high - found.low == Approx(2 * 1.96 * std::sqrt(variance)).epsilon(0.08));
}

TEST_CASE("differences between seeds cancel if the runs are the baseline's") {
  // Runs that differ by far more than what the row gains, in every run alike.
  SystemStatistics base, row;
  for (const size_t right : {100, 200, 300}) {
    base.push_back(sentences(right));
    row.push_back(base.back());
    for (size_t i = 0, added = 0; added < 12; ++i) {  // sentences that were wrong
      if (row.back()[i].counts[0] > 0) continue;
      row.back()[i].counts = {6, 5, 4, 3};
      ++added;
    }
  }
  const std::vector<SystemStatistics> systems = {row};
  CHECK(joint(base, row).p_value > 0.5);
  const JointDifference paired = joint_bootstrap(base, systems, {0}).front();
  CHECK(paired.p_value < 0.01);
  CHECK(paired.interval.low > 0.0);
  CHECK(paired.interval.high < 6.0);
  const std::vector<SystemStatistics> other = {{row[0], row[1]}};
  CHECK_THROWS_AS(joint_bootstrap(base, other, {0}), DataError);
}

TEST_CASE("a single lucky sentence is not significant") {
  const JointDifference lucky = joint({sentences(0)}, {sentences(1)});
  CHECK(lucky.p_value > 0.3);
  CHECK(lucky.interval.low == 0.0);
}

TEST_CASE("the joint bootstrap is reproducible and refuses other texts") {
  const SystemStatistics base = {sentences(200)}, row = {sentences(220)};
  CHECK(joint(base, row).p_value == joint(base, row).p_value);
  CHECK(joint_bootstrap(base, {}).empty());
  CHECK_THROWS_AS(joint(base, {sentences(50, 100)}), DataError);
  CHECK_THROWS_AS(joint(base, SystemStatistics{}), DataError);
}
