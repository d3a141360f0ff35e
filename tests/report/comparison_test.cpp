#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/text_score.h"
#include "tests/report/normal_draws.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::row;
using testing::run;
using testing::sweep;

namespace {

/// `all` sentences of six words, of which `right` are the reference and the others have no word of
/// it. Evenly spread.
std::vector<BleuStatistics> sentences(size_t right, size_t all = 400) {
  std::vector<BleuStatistics> out(all);
  for (size_t i = 0; i < all; ++i) {
    out[i].totals = {6, 5, 4, 3};
    out[i].hyp_length = out[i].ref_length = 6;
    if (i * right / all != (i + 1) * right / all) out[i].counts = {6, 5, 4, 3};
  }
  return out;
}

using Runs = std::vector<std::vector<BleuStatistics>>;

SystemRuns resampled(const Runs& runs) {
  SystemRuns system;
  for (const auto& run : runs) system.push_back(resampled_text(run, BleuOptions{}));
  return system;
}

ResampledSystem bleu_of(size_t right) {
  return resampled({sentences(right)}).front();
}

JointDifference joint(const Runs& base, const Runs& system, const BootstrapOptions& options = {},
                      const std::set<size_t>& paired = {}) {
  const std::vector<SystemRuns> systems(1, resampled(system));
  return joint_bootstrap(resampled(base), systems, paired, options).front();
}

}  // namespace

TEST_CASE("identical outputs do not differ, and clearly better ones do") {
  const Runs base = {sentences(200), sentences(204)};
  CHECK(joint({sentences(200)}, {sentences(200)}).p_value == 1.0);
  CHECK(joint(base, base).p_value > 0.5);
  const JointDifference better = joint(base, {sentences(300), sentences(296)});
  CHECK(better.p_value < 0.01);
  CHECK(better.interval.low > 0);
  const JointDifference worse = joint({sentences(300), sentences(296)}, base);
  CHECK(worse.p_value < 0.01);
  CHECK(worse.interval.high < 0);
}

TEST_CASE("the interval is as wide as the variances of sentences and of seeds make it") {
  // With sentences that are right or wrong as a whole BLEU is 100 times the share of right ones: a
  // mean over sentences and runs, whose bootstrap variance is known.
  const Runs base = {sentences(200)};
  Runs system;
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
  Runs base, row;
  for (const size_t right : {100, 200, 300}) {
    base.push_back(sentences(right));
    row.push_back(base.back());
    for (size_t i = 0, added = 0; added < 12; ++i) {  // sentences that were wrong
      if (row.back()[i].counts[0] > 0) continue;
      row.back()[i].counts = {6, 5, 4, 3};
      ++added;
    }
  }
  CHECK(joint(base, row).p_value > 0.5);
  const JointDifference paired = joint(base, row, {}, {0});
  CHECK(paired.p_value < 0.01);
  CHECK(paired.interval.low > 0.0);
  CHECK(paired.interval.high < 6.0);
  CHECK_THROWS_AS(joint(base, {row[0], row[1]}, {}, {0}), DataError);
}

TEST_CASE("a single lucky sentence is not significant") {
  const JointDifference lucky = joint({sentences(0)}, {sentences(1)});
  CHECK(lucky.p_value > 0.3);
  CHECK(lucky.interval.low == 0.0);
}

TEST_CASE("the joint bootstrap is reproducible and refuses other texts") {
  const Runs base = {sentences(200)}, row = {sentences(220)};
  CHECK(joint(base, row).p_value == joint(base, row).p_value);
  CHECK(joint_bootstrap(resampled(base), {}).empty());
  CHECK_THROWS_AS(joint(base, {sentences(50, 100)}), DataError);
  CHECK_THROWS_AS(joint(base, Runs{}), DataError);
}

namespace {

// Runs whose perplexities are drawn from one normal distribution.
std::vector<RunRecord> draws(int64_t count, Random& random) {
  std::vector<RunRecord> runs;
  for (const double value : testing::normal_draws(count, 10.0, 1.0, random)) {
    runs.push_back(run(static_cast<int64_t>(runs.size()) + 1, value, 0));
  }
  return runs;
}

}  // namespace

TEST_CASE("a difference counts only if it is larger than the seeds' own") {
  auto results = sweep({row("base", 5, 25, {run(1, 5.0, 25), run(2, 5.1, 25), run(3, 4.9, 25)}),
                        row("near", 6, 24, {run(1, 5.1, 25)}), row("far", 6, 24, {run(1, 6.6, 25)}),
                        row("other", 6, 24, {run(1, 3.4, 25)})});
  const auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::loss].ours == Approx(0.1));
  CHECK(*compared[1].differences[Metric::loss].paper == Approx(1.0));
  CHECK(compared[1].differences[Metric::loss].verdict == "inconclusive");
  CHECK(compared[2].differences[Metric::loss].verdict == "agrees");
  CHECK(compared[3].differences[Metric::loss].verdict == "disagrees");
  CHECK(compared[0].differences[Metric::loss].verdict.empty());
  CHECK(!compared[0].differences[Metric::loss].test);
  // Without sentences no difference in BLEU is tested.
  CHECK(compared[2].differences[Metric::bleu].verdict.empty());
}

TEST_CASE("a row with another baseline has its differences from that row, ours and the paper's") {
  auto results =
      sweep({row("base", 5, 25, {run(1, 5.0, 25), run(2, 5.1, 25), run(3, 4.9, 25)}),
             row("step", 6, 24, {run(1, 7.1, 25), run(2, 7.0, 25), run(3, 7.05, 25)}),
             row("next", 5.5, 24, {run(1, 6.1, 25), run(2, 6.05, 25), run(3, 6.15, 25)})});
  results.rows[2].baseline = 1;
  for (RowRecord& one : results.rows) {
    for (RunRecord& of : one.runs)
      of.outputs[Metric::bleu] = bleu_of(one.name == "next" ? 100 : 200);
  }
  const auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::loss].ours == Approx(2.05));
  const Difference& next = compared[2].differences[Metric::loss];
  CHECK(*next.ours == Approx(-0.95));
  CHECK(*next.paper == Approx(-0.5));
  CHECK(next.verdict == "agrees");
  // The bootstrap pairs it with the same row.
  CHECK(compared[1].differences[Metric::bleu].joint->interval.high == 0.0);
  CHECK(compared[2].differences[Metric::bleu].joint->interval.high != 0.0);
  // Without the runs of its baseline a row has no difference.
  results.rows[1].runs.clear();
  CHECK(!compare(results)[2].differences[Metric::loss].ours);
  CHECK(!compare(results)[2].differences[Metric::bleu].joint);
}

TEST_CASE("of tables without a difference 5 % have a significant row, for any numbers of seeds",
          "[slow]") {
  struct Numbers {
    int64_t of_base, of_row;  // seeds
    int rows = 1;
  };
  for (const auto& [of_base, of_row, rows] : {Numbers{5, 2},
                                              {8, 2},
                                              {2, 5},
                                              {2, 1},
                                              {5, 1},
                                              {1, 3},
                                              {3, 3},
                                              {20, 10},
                                              {5, 1, 6},
                                              {5, 2, 6},
                                              {5, 3, 6}}) {
    INFO(of_base << " seeds against " << of_row << " in " << rows << " rows");
    Random random(static_cast<uint64_t>(100 * of_base + of_row));
    const int sweeps = rows > 1 ? 4'000 : 10'000;
    int tables = 0, uncorrected = 0;
    bool raised = true;
    for (int i = 0; i < sweeps; ++i) {
      std::vector<RowRecord> all = {row("base", 0, 0, draws(of_base, random))};
      for (int k = 0; k < rows; ++k) all.push_back(row("same", 0, 0, draws(of_row, random)));
      bool any = false, raw = false;
      for (const RowComparison& one : compare(sweep(std::move(all)))) {
        const Difference& difference = one.differences[Metric::loss];
        any |= difference.significant;
        raw |= difference.test && difference.test->p_value < kSignificance;
        raised &= !difference.test || *difference.holm >= difference.test->p_value;
      }
      tables += any;
      uncorrected += raw;
    }
    CHECK(raised);
    const double found = static_cast<double>(tables) / sweeps;
    if (rows == 1) CHECK(found == Approx(kSignificance).margin(0.007));
    if (rows > 1) CHECK(found < kSignificance + 0.01);
    if (rows > 1) CHECK(static_cast<double>(uncorrected) / sweeps > 0.15);
  }
}

TEST_CASE("0.00 → 0.01 is not significant, whatever the p-value") {
  auto results = sweep({row("base", 9, 9, {run(1, 0.001, 0), run(2, 0.002, 0), run(3, 0.003, 0)}),
                        row("x", 8, 8, {run(1, 0.011, 0), run(2, 0.012, 0), run(3, 0.013, 0)}),
                        row("y", 8, 8, {run(1, 5.0, 0), run(2, 5.001, 0), run(3, 5.002, 0)})});
  auto compared = compare(results);
  const Difference& small = compared[1].differences[Metric::loss];
  CHECK(small.test->p_value < 0.001);
  CHECK(!small.significant);
  CHECK(compared[2].differences[Metric::loss].significant);
  // Nor without any deviation, of which a test could know.
  for (RunRecord& of_base : results.rows[0].runs) of_base.scores[Metric::loss] = 0.0;
  for (RunRecord& of_row : results.rows[1].runs) of_row.scores[Metric::loss] = 0.5;
  for (RunRecord& of_row : results.rows[2].runs) of_row.scores[Metric::loss] = 5.0;
  compared = compare(results);
  CHECK(!compared[1].differences[Metric::loss].test);
  CHECK(!compared[1].differences[Metric::loss].significant);
}

TEST_CASE("a row that was scored on something else has no difference, and others keep theirs") {
  auto results = sweep({row("base", 5, 25, {run(1, 5.0, 25), run(2, 5.1, 25)}),
                        row("other", 6, 24, {run(1, 9.0, 20), run(2, 9.1, 20)}),
                        row("same", 6, 24, {run(1, 6.0, 24), run(2, 6.1, 24)})});
  results.rows[1].incomparable[Metric::loss] = true;
  const auto compared = compare(results);
  CHECK(compared[1].means[Metric::loss]);
  CHECK(!compared[1].differences[Metric::loss].ours);
  CHECK(!compared[1].differences[Metric::loss].test);
  CHECK(compared[1].differences[Metric::loss].verdict != "disagrees");
  CHECK(compared[1].differences[Metric::bleu].ours);
  CHECK(*compared[2].differences[Metric::loss].ours == Approx(1.0));
  CHECK(compared[2].differences[Metric::loss].test);
}

TEST_CASE("a row that only evaluates the base's runs differently is compared with each of them") {
  auto results = sweep({row("base", 0, 0, {run(1, 5, 20), run(2, 6, 30), run(3, 7, 25)}),
                        row("beam", 0, 0, {run(1, 5, 21), run(2, 6, 32), run(3, 7, 28)}),
                        row("heads", 0, 0, {run(1, 6, 20), run(2, 7, 33), run(3, 8, 22)})});
  results.rows[1].equivalent_row = 0;
  const auto compared = compare(results);
  const Difference& beam = compared[1].differences[Metric::bleu];
  CHECK(*beam.ours == Approx(2.0));
  CHECK(beam.test->degrees_of_freedom == 2);
  CHECK(beam.test->p_value == Approx(0.07417990022744853));  // scipy.stats.ttest_rel(row, base)
  CHECK(beam.test->interval.low == Approx(-0.4841377117503217));
  CHECK(beam.test->interval.high == Approx(4.484137711750322));
  CHECK(!compared[1].differences[Metric::loss].test);  // of the same weights
  // Two degrees of freedom of the base and two of heads: beam's are the base's.
  CHECK(compared[2].differences[Metric::bleu].test->degrees_of_freedom == 4);
  results.rows[1].runs.pop_back();  // seeds of its own
  CHECK(compare(results)[1].differences[Metric::bleu].test->degrees_of_freedom == 4);
}

TEST_CASE("BLEU's differences are tested over sentences, and over seeds where there are several") {
  auto results = sweep({row("base", 0, 25, {run(1, 5, 50)}), row("worse", 0, 24, {run(1, 5, 25)}),
                        row("alike", 0, 24, {run(1, 5, 49.5)})});
  results.rows[0].runs[0].outputs[Metric::bleu] = bleu_of(200);
  results.rows[1].runs[0].outputs[Metric::bleu] = bleu_of(100);
  results.rows[2].runs[0].outputs[Metric::bleu] = bleu_of(198);
  auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::bleu].p_value < 0.05);
  CHECK(compared[1].differences[Metric::bleu].interval()->high < 0.0);
  CHECK(!compared[1].differences[Metric::bleu].test);
  CHECK(compared[1].differences[Metric::bleu].verdict == "agrees");
  CHECK(*compared[2].differences[Metric::bleu].p_value > 0.05);
  CHECK(compared[2].differences[Metric::bleu].verdict == "inconclusive");
  // A base whose seeds stray by as much as the difference takes the verdict back.
  RunRecord second = run(2, 5, 20);
  second.outputs[Metric::bleu] = bleu_of(200);
  results.rows[0].runs.push_back(second);
  compared = compare(results);
  const Difference& worse = compared[1].differences[Metric::bleu];
  CHECK(worse.verdict == "inconclusive");
  // One p-value, of both tests: the larger one.
  CHECK(*worse.p_value == std::max(*worse.holm, worse.joint->p_value));
  // The bootstrap is of the seeds that the means are of; without it nothing is significant.
  results.rows[0].runs[1].outputs[Metric::bleu] = {};
  compared = compare(results);
  CHECK(!compared[1].differences[Metric::bleu].joint);
  CHECK(!compared[1].differences[Metric::bleu].p_value);
}
