#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/json_config.h"
#include "base/random.h"
#include "tests/report/normal_draws.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;

namespace {

constexpr double kExact = 1e-9, kIterative = 1e-6;

Json cases(const char* group) {
  return testing::golden_json("report/data/statistics_cases.json")[group];
}

SeedMean described(const Json& values) {
  return *seed_mean(values.get<std::vector<double>>());
}

void check_equal(const std::optional<SeedTest>& test, const Json& expected) {
  REQUIRE(test);
  CHECK(test->degrees == Approx(expected["degrees"].get<double>()).epsilon(kExact));
  CHECK(test->p_value == Approx(expected["p_value"].get<double>()).margin(kExact));
  CHECK(test->interval.low == Approx(expected["interval"][0].get<double>()).margin(kExact));
  CHECK(test->interval.high == Approx(expected["interval"][1].get<double>()).margin(kExact));
}

// Rate of false positives of a test, for normal draws with these standard deviations.
template <class Test>
double false_positives(Test test, int64_t of_base, int64_t of_row, double deviation_of_row) {
  constexpr int kTrials = 5'000;
  Random random(static_cast<uint64_t>(1000 * of_base + of_row));
  int found = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto base = seed_mean(testing::normal_draws(of_base, 5.0, 1.0, random));
    const auto row = seed_mean(testing::normal_draws(of_row, 5.0, deviation_of_row, random));
    found += test(*base, *row)->p_value < kSignificance;
  }
  return static_cast<double>(found) / kTrials;
}

}  // namespace

TEST_CASE("Student's t is SciPy's, for any degrees of freedom") {
  for (const Json& one : cases("student_t")) {
    INFO(one.dump());
    const double t = one["t"].get<double>(), degrees = one["degrees"].get<double>();
    CHECK(student_t_p_value(t, degrees) == Approx(one["p_value"].get<double>()).epsilon(kExact));
    CHECK(student_t_p_value(-t, degrees) == student_t_p_value(t, degrees));
  }
  CHECK(student_t_p_value(INFINITY, 3) == 0.0);
}

TEST_CASE("quantiles of Student's t are SciPy's") {
  for (const Json& one : cases("quantile")) {
    INFO(one.dump());
    const double degrees = one["degrees"].get<double>();
    CHECK(student_t_quantile(one["probability"].get<double>(), degrees) ==
          Approx(one["t"].get<double>()).epsilon(kExact).margin(kExact));
  }
}

TEST_CASE("tests of two means are SciPy's, with their intervals") {
  for (const Json& one : cases("means")) {
    INFO(one.dump());
    const SeedMean base = described(one["base"]), row = described(one["row"]);
    check_equal(welch_test(base, row), one["welch"]);
    check_equal(pooled_test(base, row), one["pooled"]);
  }
}

TEST_CASE("an interval contains the difference, and zero exactly if the difference is not found") {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const auto base = *seed_mean(testing::normal_draws(4, 5.0, 1.0, random));
    const auto row = *seed_mean(testing::normal_draws(3, 6.5, 0.7, random));
    for (const auto& test : {welch_test(base, row), pooled_test(base, row)}) {
      const auto& [low, high] = test->interval;
      CHECK(low < row.mean - base.mean);
      CHECK(row.mean - base.mean < high);
      CHECK((low > 0 || high < 0) == (test->p_value < kSignificance));
    }
  }
}

TEST_CASE("the test is Welch's from three seeds in both rows on") {
  const auto with = [](int64_t seeds) {
    return SeedMean{
        .mean = 5, .deviation = seeds > 1 ? std::optional(1.0) : std::nullopt, .seeds = seeds};
  };
  CHECK(!seed_test(with(1), with(1)));
  CHECK(seed_test(with(1), with(3))->kind == SeedTestKind::pooled);
  CHECK(seed_test(with(8), with(2))->kind == SeedTestKind::pooled);
  CHECK(seed_test(with(3), with(3))->kind == SeedTestKind::welch);
  CHECK(!welch_test(with(1), with(5)));
}

TEST_CASE("without a deviation no test is possible") {
  const SeedMean one{.mean = 5, .deviation = {}, .seeds = 1};
  const SeedMean constant{.mean = 0.01, .deviation = 0.0, .seeds = 3};
  const SeedMean other{.mean = 0.0, .deviation = 0.0, .seeds = 3};
  CHECK(!pooled_test(constant, one));
  CHECK(!pooled_test(constant, other));
  CHECK(!welch_test(constant, other));
  CHECK(!seed_mean({}));
}

TEST_CASE("Welch's test keeps its level for rows that vary differently, the pooled one does not") {
  CHECK(false_positives(welch_test, 3, 3, 1) == Approx(0.035).margin(0.01));
  CHECK(false_positives(welch_test, 5, 5, 2) == Approx(0.05).margin(0.01));
  CHECK(false_positives(welch_test, 20, 3, 1) < 0.085);
  CHECK(false_positives(welch_test, 20, 3, 2) < 0.085);
  CHECK(false_positives(pooled_test, 20, 3, 2) > 0.15);
}

TEST_CASE("power and the smallest detectable difference are SciPy's") {
  for (const Json& one : cases("power")) {
    INFO(one.dump());
    const double degrees = one["degrees"].get<double>(), level = one["level"].get<double>();
    CHECK(t_test_power(one["noncentrality"].get<double>(), degrees, level) ==
          Approx(one["power"].get<double>()).margin(kExact));
  }
  for (const Json& one : cases("detectable")) {
    INFO(one.dump());
    const double degrees = one["degrees"].get<double>(), level = one["level"].get<double>();
    CHECK(smallest_detectable_difference(2.0, degrees, level, one["power"].get<double>()) ==
          Approx(2.0 * one["difference"].get<double>()).epsilon(kIterative));
  }
  CHECK(t_test_power(0.0, 7) == Approx(kSignificance).margin(kExact));
}

TEST_CASE("a difference of the planned size is found in four of five sweeps") {
  const double difference = *planned_detectable_difference(0.5, 5, 3);
  Random random(17);
  int found = 0;
  constexpr int kTrials = 10'000;
  for (int i = 0; i < kTrials; ++i) {
    const auto base = *seed_mean(testing::normal_draws(5, 25.0, 0.5, random));
    const auto row = *seed_mean(testing::normal_draws(3, 25.0 + difference, 0.5, random));
    found += pooled_test(base, row)->p_value < kSignificance;
  }
  CHECK(static_cast<double>(found) / kTrials == Approx(kPower).margin(0.015));
}

TEST_CASE("more seeds detect smaller differences, and one seed a row none") {
  CHECK(!planned_detectable_difference(0.5, 1, 1));
  CHECK(!planned_detectable_difference(0.5, 4, 0));
  double last = INFINITY;
  for (int64_t seeds = 2; seeds < 40; ++seeds) {
    const double difference = *planned_detectable_difference(0.5, seeds, seeds);
    CHECK(difference < last);
    CHECK(difference == Approx(0.5 * *planned_detectable_difference(1.0, seeds, seeds)));
    last = difference;
  }
}

TEST_CASE("Holm's correction is its definition: monotone, and never below the raw p-values") {
  for (const Json& one : cases("holm")) {
    INFO(one.dump());
    const auto raw = one["p_values"].get<std::vector<double>>();
    const auto expected = one["adjusted"].get<std::vector<double>>();
    const auto adjusted = holm_adjusted(raw);
    REQUIRE(adjusted.size() == raw.size());
    for (size_t i = 0; i < raw.size(); ++i) {
      CHECK(adjusted[i] == Approx(expected[i]).margin(kExact));
      CHECK(adjusted[i] >= raw[i]);
      CHECK(adjusted[i] <= 1.0);
      for (size_t j = 0; j < raw.size(); ++j) {
        if (raw[i] < raw[j]) CHECK(adjusted[i] <= adjusted[j]);
      }
    }
  }
}
