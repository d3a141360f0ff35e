#include "report/rank_correlation.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json_config.h"
#include "tests/report/normal_draws.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;

namespace {

RankBootstrap no_bootstrap() {
  return {.samples = 0, .seed = 1};
}

}  // namespace

TEST_CASE("τ-b and its p-value are SciPy's, exact without ties and approximate with them") {
  const Json all = testing::golden_json("report/data/statistics_cases.json");
  REQUIRE(all["kendall"].size() > 30);
  for (const Json& one : all["kendall"]) {
    INFO(one.dump());
    const auto x = one["x"].get<std::vector<double>>(), y = one["y"].get<std::vector<double>>();
    const auto found = kendall_tau(x, y, no_bootstrap());
    REQUIRE(found);
    CHECK(found->tau == Approx(one["tau"].get<double>()).margin(1e-9));
    CHECK(found->p_value == Approx(one["p_value"].get<double>()).margin(1e-9));
    CHECK(found->count == static_cast<int64_t>(x.size()));
  }
}

TEST_CASE("τ is 1 for equal orders, -1 for reversed ones, and does not depend on the scale") {
  Random random(5);
  auto x = testing::normal_draws(12, 0, 1, random);
  std::vector<double> cubed, reversed;
  for (const double value : x) {
    cubed.push_back(value * value * value);
    reversed.push_back(-value);
  }
  CHECK(kendall_tau(x, cubed)->tau == 1.0);
  CHECK(kendall_tau(x, reversed)->tau == -1.0);
  CHECK(!kendall_tau(x, cubed)->interval);  // all samples agree
  CHECK(kendall_tau(x, cubed)->p_value < 1e-6);
}

TEST_CASE("without an order there is no correlation") {
  const std::vector<double> none, one = {1}, two = {1, 2}, equal = {3, 3};
  CHECK(!kendall_tau(none, none));
  CHECK(!kendall_tau(one, one));
  CHECK(!kendall_tau(two, equal));
  CHECK(kendall_tau(two, two)->p_value == 1.0);
  CHECK(!kendall_tau(two, two)->interval);
}

TEST_CASE("τ of fewer than ten pairs has no interval") {
  Random random(3);
  const auto x = testing::normal_draws(10, 0, 1, random),
             y = testing::normal_draws(10, 0, 1, random);
  CHECK(kendall_tau(x, y)->interval);
  CHECK(!kendall_tau(std::span(x).first(9), std::span(y).first(9))->interval);
}

TEST_CASE("the interval of τ is reproducible, contains τ and covers the true one") {
  // Correlated normal draws with τ = 2/π asin(r) = 0.5 for r = √½.
  Random random(9);
  constexpr int kTrials = 200;
  int covered = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto x = testing::normal_draws(18, 0, 1, random);
    auto y = testing::normal_draws(18, 0, 1, random);
    for (size_t k = 0; k < y.size(); ++k) y[k] += x[k];
    const auto found = kendall_tau(x, y, {.samples = 400, .seed = 7});
    const auto again = kendall_tau(x, y, {.samples = 400, .seed = 7});
    CHECK(found->interval->low == again->interval->low);
    CHECK(found->interval->low <= found->tau);
    CHECK(found->tau <= found->interval->high);
    covered += found->interval->low <= 0.5 && 0.5 <= found->interval->high;
  }
  CHECK(static_cast<double>(covered) / kTrials > 0.88);
}

TEST_CASE("unrelated orders are called correlated in 5 % of all cases") {
  Random random(2);
  constexpr int kTrials = 5000;
  int found = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto x = testing::normal_draws(18, 0, 1, random);
    found += kendall_tau(x, testing::normal_draws(18, 0, 1, random), no_bootstrap())->p_value <
             kSignificance;
  }
  CHECK(static_cast<double>(found) / kTrials == Approx(0.045).margin(0.01));
}
