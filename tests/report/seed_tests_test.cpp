#include "report/seed_tests.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json_config.h"
#include "base/random.h"
#include "tests/report/normal_draws.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;
using testing::drawn;

namespace {

constexpr double kExact = 1e-9;

Json cases(const char* group) {
  return testing::golden_json("report/data/statistics_cases.json")[group];
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

TEST_CASE("critical values of Student's t are SciPy's") {
  for (const Json& one : cases("critical")) {
    INFO(one.dump());
    const double degrees = one["degrees"].get<double>();
    CHECK(student_t_critical(one["probability"].get<double>(), degrees) ==
          Approx(one["t"].get<double>()).epsilon(kExact));
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

namespace {

// The share of `tables` for which this holds.
template <class Found>
double share(int tables, Found&& found) {
  int count = 0;
  for (int i = 0; i < tables; ++i) count += found() ? 1 : 0;
  return static_cast<double>(count) / tables;
}

// Rows of equal means and deviations.
std::vector<std::optional<SeedMean>> drawn_table(size_t rows, int64_t seeds, Random& random) {
  std::vector<std::optional<SeedMean>> table;
  for (size_t i = 0; i < rows; ++i) table.push_back(drawn(seeds, 5.0, 1.0, random));
  return table;
}

// With the first row as the baseline of all.
std::vector<RowTest> test_rows(std::span<const std::optional<SeedMean>> rows) {
  return attn::test_rows(rows, std::vector<size_t>(rows.size(), 0));
}

SeedMean with_deviation(double deviation, double mean = 5.0) {
  return {.mean = mean, .deviation = deviation, .seeds = 3};
}

}  // namespace

TEST_CASE("mean and sample standard deviation over seeds") {
  CHECK(!seed_mean({}));
  const std::vector<double> one = {3.0}, three = {1.0, 2.0, 6.0};
  CHECK(seed_mean(one)->mean == 3.0);
  CHECK(!seed_mean(one)->deviation);
  CHECK(seed_mean(three)->mean == Approx(3.0));
  CHECK(*seed_mean(three)->deviation == Approx(std::sqrt(7.0)));
  const std::vector<double> diverged = {INFINITY, INFINITY};
  CHECK(seed_mean(diverged)->mean == INFINITY);
}

TEST_CASE("equal values have a deviation of exactly 0") {
  Random random(5);
  for (int i = 0; i < 2'000; ++i) {
    const double value = testing::normal_draws(1, 25.0, 5.0, random).front();
    for (const size_t seeds : {2U, 3U, 5U, 6U}) {
      const auto mean = *seed_mean(std::vector<double>(seeds, value));
      CHECK(mean.mean == value);
      CHECK(*mean.deviation == 0.0);
    }
  }
}

TEST_CASE("the tests of a table have the residual mean square of its analysis of variance") {
  REQUIRE(cases("tables").size() == 58);  // 52 of two rows, some with one seed
  for (const Json& one : cases("tables")) {
    INFO(one.dump());
    std::vector<std::optional<SeedMean>> rows;
    for (const Json& row : one["rows"]) rows.push_back(seed_mean(row.get<std::vector<double>>()));
    const std::vector<RowTest> tests = test_rows(rows);
    CHECK(!tests.front().test);
    for (size_t i = 1; i < rows.size(); ++i) {
      const Json& expected = one["tests"][i - 1];
      const auto& test = tests[i].test;
      REQUIRE(test);
      CHECK(test->degrees_of_freedom == Approx(expected["degrees"].get<double>()));
      CHECK(test->p_value == Approx(expected["p_value"].get<double>()).margin(kExact));
      CHECK(test->interval.low == Approx(expected["interval"][0].get<double>()).margin(kExact));
      CHECK(test->interval.high == Approx(expected["interval"][1].get<double>()).margin(kExact));
    }
  }
}

TEST_CASE("without a deviation no test is possible") {
  const SeedMean one{.mean = 5, .deviation = {}, .seeds = 1};
  const SeedMean constant = with_deviation(0.0, 0.01), other = with_deviation(0.0, 0.0);
  CHECK(!pooled_variance(std::vector{constant, one}));
  CHECK(!pooled_variance(std::vector{constant, other}));
  const std::vector<std::optional<SeedMean>> rows = {constant, other, one, std::nullopt};
  for (const RowTest& row : test_rows(rows)) CHECK(!row.test);
  const std::vector<double> base = {1.0, 2.0, 4.0}, shifted = {2.0, 3.0, 5.0};
  const std::vector<double> single = {3.0}, undefined = {2.0, NAN, 5.0};
  CHECK(!paired_test(base, shifted));  // equal differences
  CHECK(!paired_test(base, single));
  CHECK(!paired_test(base, undefined));
}

TEST_CASE("a row that varies three times as much is called different as often as documented",
          "[slow]") {
  constexpr int kTables = 4'000;
  struct Expected {
    int64_t seeds;
    double raw, corrected;
  };
  for (const Expected& expected : {Expected{2, 0.26, 0.09}, {3, 0.30, 0.11}}) {
    INFO(expected.seeds << " seeds");
    Random random(43);
    int raw = 0, corrected = 0;
    for (int i = 0; i < kTables; ++i) {
      auto rows = drawn_table(19, expected.seeds, random);
      rows[1] = drawn(expected.seeds, 5.0, 3.0, random);
      const double p_value = test_rows(rows)[1].test->p_value;
      raw += p_value < kSignificance;
      corrected += p_value < kSignificance / 18;
    }
    CHECK(static_cast<double>(raw) / kTables == Approx(expected.raw).margin(0.025));
    CHECK(static_cast<double>(corrected) / kTables == Approx(expected.corrected).margin(0.02));
  }
}

TEST_CASE("rows that vary equally are rarely called unstable") {
  Random random(31);
  for (const auto& [seeds, most] : {std::pair{2, 0.09}, {3, 0.002}}) {
    const double unstable = share(2'000, [&, seeds = seeds] {
      std::vector<SeedMean> rows;
      for (const auto& row : drawn_table(19, seeds, random)) rows.push_back(*row);
      return std::ranges::count(unstable_rows(rows), true) > 0;
    });
    CHECK(unstable < most);
  }
}

TEST_CASE("up to half of the rows are unstable, and none of two") {
  std::vector<SeedMean> rows(6, with_deviation(1.0));
  rows[2] = rows[5] = rows[0] = with_deviation(200.0);
  CHECK(unstable_rows(rows) == std::vector<bool>{true, false, true, false, false, true});
  rows.resize(2);
  CHECK(unstable_rows(rows) == std::vector<bool>{false, false});
}

TEST_CASE("an unstable row has its own variance, and does not change the tests of the others") {
  Random random(37);
  auto rows = drawn_table(8, 3, random);
  rows[2] = drawn(3, 5.0, 200.0, random);
  rows[5] = drawn(3, 5.0, 300.0, random);
  std::vector<SeedMean> others;
  for (const size_t row : {0U, 1U, 3U, 4U, 6U, 7U}) others.push_back(*rows[row]);
  const SeedVariance common = *pooled_variance(others);
  std::vector<RowTest> tests = test_rows(rows);
  CHECK((tests[2].unstable && tests[5].unstable && !tests[0].unstable && !tests[1].unstable));
  CHECK(tests[1].test->p_value == pooled_test(*rows[0], *rows[1], common)->p_value);
  const double deviation = *rows[2]->deviation;
  const SeedVariance own{.variance = deviation * deviation, .degrees_of_freedom = 2};
  CHECK(tests[2].test->p_value == pooled_test(*rows[0], *rows[2], own)->p_value);
  // The same with an unstable first row.
  std::swap(rows[0], rows[2]);
  tests = test_rows(rows);
  CHECK(tests[0].unstable);
  CHECK(tests[2].test->p_value == Approx(pooled_test(*rows[0], *rows[2], own)->p_value));
  CHECK(tests[1].test->degrees_of_freedom == 2);
}

TEST_CASE("a row that evaluates an unstable row's runs has that row's variance") {
  const std::vector<std::vector<double>> scores = {{35, 35.1, 35.2},  {35.3, 35.2, 35.25},
                                                   {34.9, 35, 35.05}, {34, 34.1, 34.05},
                                                   {20, 30, 33},      {29}};
  std::vector<std::optional<SeedMean>> rows;
  for (const auto& of_row : scores) rows.push_back(seed_mean(of_row));
  const auto tests =
      attn::test_rows(rows, std::vector<size_t>(6, 0), std::vector<size_t>{0, 1, 2, 3, 4, 4});
  REQUIRE((tests[4].unstable && tests[5].unstable && !tests[3].unstable));
  const double deviation = *rows[4]->deviation;
  const SeedVariance own{.variance = deviation * deviation, .degrees_of_freedom = 2};
  CHECK(tests[5].test->p_value == pooled_test(*rows[0], *rows[5], own)->p_value);
}

TEST_CASE("a row is tested against its own baseline as if that were the first row") {
  Random random(61);
  auto rows = drawn_table(7, 3, random);
  const std::vector<size_t> baselines = {0, 0, 0, 2, 3, 0, 2};
  for (const bool unstable : {false, true}) {
    if (unstable) rows[2] = drawn(3, 5.0, 200.0, random);
    const std::vector<RowTest> tests = attn::test_rows(rows, baselines);
    for (size_t i = 1; i < rows.size(); ++i) {
      auto moved = rows;
      std::swap(moved[0], moved[baselines[i]]);  // tables are tested as a set of rows
      const RowTest expected = test_rows(moved)[i];
      CHECK(tests[i].test->p_value == Approx(expected.test->p_value));
      CHECK(tests[i].test->interval.low == Approx(expected.test->interval.low));
      CHECK(tests[i].unstable == expected.unstable);
    }
  }
  rows[3] = {};  // without a mean: the rows compared with it are not tested, the others are
  const auto tests = attn::test_rows(rows, baselines);
  CHECK((!tests[3].test && !tests[4].test && tests[6].test));
}

TEST_CASE("rows that evaluate the same runs differently count once") {
  constexpr int kTables = 4'000;
  Random random(61);
  int found = 0, alone = 0;
  for (int i = 0; i < kTables; ++i) {
    // Six rows of two seeds; the last four evaluate the first one's weights.
    auto rows = drawn_table(6, 2, random);
    for (size_t row = 2; row < rows.size(); ++row) {
      rows[row] = rows[0];
      rows[row]->mean += static_cast<double>(row);
    }
    const std::vector<size_t> first_equivalent = {0, 1, 0, 0, 0, 0};
    const auto tests = attn::test_rows(rows, std::vector<size_t>(6, 0), first_equivalent);
    CHECK(tests[1].test->degrees_of_freedom == 2);
    found += tests[1].test->p_value < kSignificance;
    alone += test_rows(rows)[1].test->p_value < kSignificance;
  }
  CHECK(static_cast<double>(found) / kTables == Approx(kSignificance).margin(0.012));
  CHECK(static_cast<double>(alone) / kTables > 0.08);
}

TEST_CASE("collapsed rows, whose seeds all have the same score, do not change the level") {
  Random random(53);
  const double found = share(2'000, [&] {
    auto rows = drawn_table(8, 3, random);
    for (size_t row = 3; row < rows.size(); ++row) rows[row] = with_deviation(0.0, 0.0);
    return test_rows(rows)[1].test->p_value < kSignificance;
  });
  CHECK(found == Approx(kSignificance).margin(0.015));
}

TEST_CASE("a row that diverged is not tested, and does not change the tests of the others") {
  Random random(41);
  auto rows = drawn_table(5, 3, random);
  const auto before = test_rows(std::vector(rows.begin(), rows.end() - 1));
  const double mean = 5.0, infinite = INFINITY;
  // The second overflows only where it is squared.
  for (const SeedMean& diverged : {SeedMean{infinite, std::nan(""), 3}, SeedMean{mean, 1e200, 3},
                                   SeedMean{infinite, {}, 1}, SeedMean{std::nan(""), {}, 1}}) {
    rows.back() = diverged;
    const auto after = test_rows(rows);
    for (size_t i = 1; i < before.size(); ++i) {
      CHECK(after[i].test->p_value == before[i].test->p_value);
    }
    CHECK(!after.back().test);
    std::swap(rows.front(), rows.back());
    for (const RowTest& row : test_rows(rows)) CHECK(!row.test);
    std::swap(rows.front(), rows.back());
  }
}
