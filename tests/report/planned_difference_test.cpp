// The minimum detectable difference of planned seeds.
#include <cmath>
#include <optional>
#include <vector>

#include "base/random.h"
#include "report/seed_tests.h"
#include "tests/report/normal_draws.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::drawn;

TEST_CASE("a difference of the planned size is found in four of five sweeps") {
  const std::vector<int64_t> seeds = {5, 3, 4, 0, 3};
  const auto planned = *planned_detectable_difference(seeds, std::vector<size_t>(5, 0));
  CHECK(planned.seeds == 3);
  CHECK(planned.baseline_seeds == 5);
  Random random(17);
  int found = 0;
  constexpr int kTrials = 10'000;
  for (int i = 0; i < kTrials; ++i) {
    const std::vector<SeedMean> rows = {drawn(5, 25.0, 0.5, random),
                                        drawn(3, 25.0 + 0.5 * planned.deviations, 0.5, random),
                                        drawn(4, 25.0, 0.5, random), drawn(3, 25.0, 0.5, random)};
    found += pooled_test(rows[0], rows[1], *pooled_variance(rows))->p_value < kSignificance;
  }
  CHECK(static_cast<double>(found) / kTrials == Approx(kPower).margin(0.015));
}

TEST_CASE("more seeds or more rows detect smaller differences, and one seed a row none") {
  const auto planned = [](std::vector<int64_t> seeds) {
    const std::vector<size_t> baselines(seeds.size(), 0);
    const auto found = planned_detectable_difference(seeds, baselines);
    return found ? std::optional(found->deviations) : std::nullopt;
  };
  CHECK(!planned({}));
  CHECK(!planned({3}));
  CHECK(!planned({3, 0}));
  CHECK(!planned({0, 4}));
  CHECK(!planned({1, 1, 1}));
  CHECK(*planned({1, 1, 2}) > 0);
  // A row with fewer seeds, or whose baseline has fewer, decides.
  const auto with =
      planned_detectable_difference(std::vector<int64_t>{5, 3, 3}, std::vector<size_t>{0, 0, 1});
  CHECK((with->baseline_seeds == 3 && with->seeds == 3));
  CHECK(with->deviations > *planned({5, 3, 3}));
  CHECK(planned_detectable_difference(std::vector<int64_t>{0, 3, 3}, std::vector<size_t>{0, 0, 1}));
  double last = INFINITY;
  for (int64_t seeds = 2; seeds < 40; ++seeds) {
    const double difference = *planned({seeds, seeds});
    CHECK(difference < last);
    CHECK(*planned({seeds, seeds, seeds}) < difference);
    last = difference;
  }
}

TEST_CASE("rows that evaluate the same runs differently are planned as one") {
  const std::vector<int64_t> seeds = {3, 3, 3};
  const std::vector<size_t> baselines = {0, 0, 0}, first_equivalent = {0, 1, 0};
  CHECK(planned_detectable_difference(seeds, baselines, first_equivalent)->deviations >
        planned_detectable_difference(seeds, baselines)->deviations);
}
