#include "report/comparison.h"

#include <cmath>
#include <filesystem>
#include <numbers>

#include "base/file.h"
#include "base/json_config.h"
#include "base/random.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"
#include "tests/support/source_dir.h"

using namespace attn;
using testing::contains;
using testing::row;
using testing::run;
using testing::sweep;

namespace {

// Sentences of four words, of which a share of the sentences is right.
std::vector<BleuStatistics> sentences(size_t right, size_t all = 400) {
  std::vector<BleuStatistics> out(all);
  for (size_t i = 0; i < all; ++i) {
    out[i].totals = {6, 5, 4, 3};
    out[i].hyp_length = out[i].ref_length = 6;
    if (i * right / all != (i + 1) * right / all) out[i].counts = {6, 5, 4, 3};
  }
  return out;
}

// Runs whose perplexities are drawn from one normal distribution (Box and Muller's transform).
std::vector<RunRecord> draws(int64_t count, Random& random) {
  std::vector<RunRecord> runs;
  for (int64_t seed = 1; seed <= count; ++seed) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    runs.push_back(run(seed, 10 + radius * std::cos(2 * std::numbers::pi * random.uniform()), 0));
  }
  return runs;
}

// Rate of false positives: rows without a true difference that are called significant.
double false_positives(int64_t of_base, int64_t of_row) {
  constexpr int kSweeps = 20'000;
  Random random(static_cast<uint64_t>(100 * of_base + of_row));
  int significant = 0;
  for (int i = 0; i < kSweeps; ++i) {
    const auto results = sweep(
        {row("base", 0, 0, draws(of_base, random)), row("same", 0, 0, draws(of_row, random))});
    significant += compare(results)[1].differences[Metric::loss].significant;
  }
  return static_cast<double>(significant) / kSweeps;
}

}  // namespace

TEST_CASE("mean and sample standard deviation over seeds") {
  CHECK(!seed_mean({}));
  const std::vector<double> one = {3.0}, three = {1.0, 2.0, 6.0};
  CHECK(seed_mean(one)->mean == 3.0);
  CHECK(!seed_mean(one)->deviation);
  CHECK(seed_mean(three)->mean == Approx(3.0));
  CHECK(*seed_mean(three)->deviation == Approx(std::sqrt(7.0)));
}

TEST_CASE("a difference counts only if it is larger than the seeds' own") {
  auto results = sweep({row("base", 5, 25, {run(1, 5.0, 25), run(2, 5.1, 25), run(3, 4.9, 25)}),
                        row("near", 6, 24, {run(1, 5.1, 25)}), row("far", 6, 24, {run(1, 5.6, 25)}),
                        row("other", 6, 24, {run(1, 4.4, 25)})});
  const auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::loss].ours == Approx(0.1));
  CHECK(*compared[1].differences[Metric::loss].paper == Approx(1.0));
  CHECK(compared[1].differences[Metric::loss].verdict == Verdict::unclear);
  CHECK(compared[2].differences[Metric::loss].verdict == Verdict::agrees);
  CHECK(compared[3].differences[Metric::loss].verdict == Verdict::disagrees);
  CHECK(compared[0].differences[Metric::loss].verdict == Verdict::none);
  CHECK_THAT(
      summary(results, compared, kMetrics.front()),
      contains("3 rows") && contains("1 (far)") && contains("1 (other)") && contains("1 (near)"));
  // Without sentences no difference in BLEU can be significant.
  CHECK(compared[2].differences[Metric::bleu].verdict == Verdict::unclear);
}

TEST_CASE("of rows that do not differ, 5 % are called different for any numbers of seeds") {
  using Seeds = std::pair<int64_t, int64_t>;
  for (const auto& [of_base, of_row] :
       {Seeds{5, 2}, {8, 2}, {3, 3}, {2, 5}, {2, 1}, {5, 1}, {1, 3}, {20, 10}}) {
    INFO(of_base << " seeds against " << of_row);
    CHECK(false_positives(of_base, of_row) == Approx(kSignificance).margin(0.005));
  }
}

TEST_CASE("p-values over seeds are SciPy's, for one seed and for many") {
  const auto path =
      std::filesystem::path(testing::kSourceDir) / "tests/report/data/seed_test_cases.json";
  const Json cases = parse_json(read_file(path), path.string());
  REQUIRE(cases.size() == 52);
  for (const Json& one : cases) {
    INFO(one.dump());
    const auto base = one["base"].get<std::vector<double>>();
    const auto row = one["row"].get<std::vector<double>>();
    const auto p_value = seed_p_value(*seed_mean(base), *seed_mean(row));
    REQUIRE(p_value);
    CHECK(*p_value == Approx(one["p_value"].get<double>()).margin(1e-12));
  }
}

TEST_CASE("a test over seeds needs a deviation, and none of zero stops it") {
  const SeedMean one{.mean = 5, .deviation = {}, .seeds = 1};
  const SeedMean constant{.mean = 4, .deviation = 0.0, .seeds = 3};
  CHECK(!seed_p_value(one, one));
  CHECK(seed_p_value(constant, constant) == 1.0);
  CHECK(seed_p_value(constant, one) == 0.0);
}

TEST_CASE("BLEU's differences are tested over sentences, and over seeds where there are several") {
  auto results = sweep({row("base", 0, 25, {run(1, 5, 50)}), row("worse", 0, 24, {run(1, 5, 25)}),
                        row("alike", 0, 24, {run(1, 5, 49.5)})});
  results.rows[0].runs[0].sentences = sentences(200);
  results.rows[1].runs[0].sentences = sentences(100);
  results.rows[2].runs[0].sentences = sentences(198);
  auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::bleu].p_value < 0.05);
  CHECK(compared[1].differences[Metric::bleu].verdict == Verdict::agrees);
  CHECK(*compared[2].differences[Metric::bleu].p_value > 0.05);
  CHECK(compared[2].differences[Metric::bleu].verdict == Verdict::unclear);
  // A base whose seeds stray by as much as the difference takes the verdict back.
  RunRecord second = run(2, 5, 20);
  second.sentences = sentences(200);
  results.rows[0].runs.push_back(second);
  compared = compare(results);
  CHECK(compared[1].differences[Metric::bleu].verdict == Verdict::unclear);
}
