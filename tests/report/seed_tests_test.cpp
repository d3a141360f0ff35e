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

constexpr double kScipy = 1e-9;

const char* const kCases = "report/data/statistics_cases.json";

SeedMean described(const Json& values) {
  return *seed_mean(values.get<std::vector<double>>());
}

void check_equal(const std::optional<SeedTest>& test, const Json& expected) {
  REQUIRE(test);
  CHECK(test->degrees_of_freedom == Approx(expected["degrees"].get<double>()).epsilon(kScipy));
  CHECK(test->p_value == Approx(expected["p_value"].get<double>()).margin(kScipy));
  CHECK(test->interval.low == Approx(expected["interval"][0].get<double>()).margin(kScipy));
  CHECK(test->interval.high == Approx(expected["interval"][1].get<double>()).margin(kScipy));
}

// Student's t with the variance of the two rows alone.
std::optional<SeedTest> two_row_test(const SeedMean& base, const SeedMean& row) {
  const std::vector<SeedMean> rows = {base, row};
  const auto variance = pooled_variance(rows);
  return variance ? pooled_test(base, row, *variance) : std::nullopt;
}

// Rate of false positives of a test, for normal draws with these standard deviations.
double false_positives(std::optional<SeedTest> (*test)(const SeedMean&, const SeedMean&),
                       int64_t of_base, int64_t of_row, double deviation_of_row) {
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

// Rows of equal means and deviations.
std::vector<std::optional<SeedMean>> drawn_table(size_t rows, int64_t seeds, Random& random) {
  std::vector<std::optional<SeedMean>> table;
  for (size_t i = 0; i < rows; ++i) table.push_back(drawn(seeds, 5.0, 1.0, random));
  return table;
}

std::vector<SeedMean> with_means(const std::vector<std::optional<SeedMean>>& table) {
  std::vector<SeedMean> rows;
  for (const auto& row : table) rows.push_back(*row);
  return rows;
}

// With the first row as the baseline of all.
std::vector<SeedTests> seed_tests(std::span<const std::optional<SeedMean>> rows) {
  return attn::seed_tests(rows, std::vector<size_t>(rows.size(), 0));
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

TEST_CASE("tests of two means are SciPy's, with their intervals") {
  const Json cases = testing::golden_json(kCases);
  for (const Json& one : cases["means"]) {
    INFO(one.dump());
    const SeedMean base = described(one["base"]), row = described(one["row"]);
    check_equal(welch_test(base, row), one["welch"]);
    if (one.contains("pooled")) check_equal(two_row_test(base, row), one["pooled"]);
  }
}

TEST_CASE("pooled p-values over seeds are SciPy's, for one seed and for many") {
  const Json cases = testing::golden_json("report/data/seed_test_cases.json");
  REQUIRE(cases.size() == 52);
  for (const Json& one : cases) {
    INFO(one.dump());
    const auto base = one["base"].get<std::vector<double>>();
    const auto row = one["row"].get<std::vector<double>>();
    const auto test = two_row_test(*seed_mean(base), *seed_mean(row));
    REQUIRE(test);
    CHECK(test->p_value == Approx(one["p_value"].get<double>()).margin(1e-12));
  }
}

TEST_CASE("the tests of a table have the residual mean square of its analysis of variance") {
  const Json cases = testing::golden_json(kCases);
  for (const Json& one : cases["tables"]) {
    INFO(one.dump());
    std::vector<std::optional<SeedMean>> rows;
    for (const Json& row : one["rows"]) rows.push_back(described(row));
    const std::vector<SeedTests> tests = seed_tests(rows);
    CHECK(!tests.front().over_seeds);
    for (size_t i = 1; i < rows.size(); ++i) check_equal(tests[i].over_seeds, one["tests"][i - 1]);
  }
}

TEST_CASE("an interval contains the difference, and zero exactly if the difference is not found") {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const auto base = *seed_mean(testing::normal_draws(4, 5.0, 1.0, random));
    const auto row = *seed_mean(testing::normal_draws(3, 6.5, 0.7, random));
    for (const auto& test : {welch_test(base, row), two_row_test(base, row)}) {
      const auto& [low, high] = test->interval;
      CHECK(low < row.mean - base.mean);
      CHECK(row.mean - base.mean < high);
      CHECK((low > 0 || high < 0) == (test->p_value < kSignificance));
    }
  }
}

TEST_CASE("Welch's test is made from three seeds in both rows on") {
  Random random(1);
  const auto welch = [&](int64_t of_base, int64_t of_row) {
    const std::vector<std::optional<SeedMean>> rows = {drawn(of_base, 5, 1, random),
                                                       drawn(of_row, 5, 1, random)};
    return seed_tests(rows)[1].welch.has_value();
  };
  CHECK(!welch(8, 2));
  CHECK(!welch(1, 3));
  CHECK(welch(3, 3));
  CHECK(!welch_test({.mean = 5, .deviation = {}, .seeds = 1}, drawn(5, 5, 1, random)));
}

TEST_CASE("without a deviation no test is possible") {
  const SeedMean one{.mean = 5, .deviation = {}, .seeds = 1};
  const SeedMean constant{.mean = 0.01, .deviation = 0.0, .seeds = 3};
  const SeedMean other{.mean = 0.0, .deviation = 0.0, .seeds = 3};
  CHECK(!two_row_test(constant, one));
  CHECK(!two_row_test(constant, other));
  CHECK(!welch_test(constant, other));
  const std::vector<std::optional<SeedMean>> rows = {constant, other, one, std::nullopt};
  for (const SeedTests& tests : seed_tests(rows)) CHECK(!(tests.over_seeds || tests.welch));
}

TEST_CASE("Welch's test keeps its level for rows that vary differently, the pooled one does not") {
  CHECK(false_positives(welch_test, 3, 3, 1) == Approx(0.035).margin(0.01));
  CHECK(false_positives(welch_test, 5, 5, 2) == Approx(0.05).margin(0.01));
  CHECK(false_positives(welch_test, 20, 3, 1) < 0.085);
  CHECK(false_positives(welch_test, 20, 3, 2) < 0.085);
  CHECK(false_positives(two_row_test, 20, 3, 2) > 0.15);
}

TEST_CASE("a table of two seeds a row keeps the level, and finds what two rows alone do not") {
  constexpr int kTables = 2'000;
  constexpr double kDifference = 4.0;
  Random random(29);
  int false_positives = 0, found = 0, found_by_two = 0;
  for (int i = 0; i < kTables; ++i) {
    auto rows = drawn_table(12, 2, random);
    rows[1]->mean += kDifference;
    const std::vector<SeedTests> tests = seed_tests(rows);
    found += tests[1].over_seeds->p_value < 0.01;
    found_by_two += two_row_test(*rows[0], *rows[1])->p_value < 0.01;
    false_positives += tests[2].over_seeds->p_value < kSignificance;
  }
  CHECK(static_cast<double>(false_positives) / kTables == Approx(kSignificance).margin(0.015));
  CHECK(static_cast<double>(found) / kTables > 0.75);
  CHECK(static_cast<double>(found_by_two) / kTables < 0.35);
}

TEST_CASE("a row that varies three times as much is called different as often as documented",
          "[slow]") {
  constexpr int kTables = 4'000;
  struct Expected {
    int64_t seeds;
    double raw, corrected;
  };
  for (const Expected& expected : {Expected{2, 0.24, 0.09}, {3, 0.18, 0.07}}) {
    INFO(expected.seeds << " seeds");
    Random random(43);
    int raw = 0, corrected = 0;
    for (int i = 0; i < kTables; ++i) {
      auto rows = drawn_table(19, expected.seeds, random);
      rows[1] = drawn(expected.seeds, 5.0, 3.0, random);
      const double p_value = seed_tests(rows)[1].over_seeds->p_value;
      raw += p_value < kSignificance;
      corrected += p_value < kSignificance / 18;
    }
    CHECK(static_cast<double>(raw) / kTables == Approx(expected.raw).margin(0.025));
    CHECK(static_cast<double>(corrected) / kTables == Approx(expected.corrected).margin(0.02));
  }
}

TEST_CASE("rows that vary equally are rarely called high-variance") {
  constexpr int kTables = 2'000;
  Random random(31);
  int high_variance = 0;
  for (int i = 0; i < kTables; ++i) {
    const auto marked = high_variance_rows(with_means(drawn_table(10, 3, random)));
    high_variance += std::find(marked.begin(), marked.end(), true) != marked.end();
  }
  CHECK(static_cast<double>(high_variance) / kTables == Approx(0.07).margin(0.02));
}

TEST_CASE("two high-variance rows do not hide each other") {
  const auto with = [](double deviation) {
    return SeedMean{.mean = 5.0, .deviation = deviation, .seeds = 3};
  };
  std::vector<SeedMean> rows(8, with(1.0));
  rows[2] = with(200.0);
  CHECK(high_variance_rows(rows) ==
        std::vector<bool>{false, false, true, false, false, false, false, false});
  // The first of two is not found by itself: F(2, 14) is 7.
  rows[5] = with(200.0);
  CHECK(f_p_value(7.0, 2, 14) > 0.05 / 8);
  CHECK(high_variance_rows(rows) ==
        std::vector<bool>{false, false, true, false, false, true, false, false});
}

TEST_CASE("a high-variance row has its own variance, and does not change the tests of the others") {
  Random random(37);
  auto rows = drawn_table(8, 3, random);
  std::vector<SeedMean> others;
  for (const size_t row : {0U, 1U, 3U, 4U, 6U, 7U}) others.push_back(*rows[row]);
  for (const size_t row : {2U, 5U}) rows[row] = drawn(3, 5.0, 200.0, random);
  const SeedVariance common = *pooled_variance(others);
  const std::vector<SeedTests> tests = seed_tests(rows);
  CHECK((tests[2].high_variance && tests[5].high_variance && !tests[0].high_variance &&
         !tests[1].high_variance));
  CHECK(tests[1].over_seeds->degrees_of_freedom == 12);
  CHECK(tests[1].over_seeds->error == pooled_test(*rows[0], *rows[1], common)->error);
  const double own = *rows[2]->deviation;
  CHECK(tests[2].over_seeds->error == Approx(std::sqrt((own * own + common.variance) / 3)));
  CHECK(tests[2].over_seeds->degrees_of_freedom == Approx(2.0).epsilon(0.01));
  // The same with a high-variance first row.
  std::swap(rows[0], rows[2]);
  const std::vector<SeedTests> swapped = seed_tests(rows);
  CHECK(swapped[0].high_variance);
  CHECK(swapped[2].over_seeds->p_value == Approx(tests[2].over_seeds->p_value));
  CHECK(swapped[1].over_seeds->degrees_of_freedom == Approx(2.0).epsilon(0.01));
}

TEST_CASE("a row is tested against its own baseline as if that were the first row") {
  Random random(61);
  auto rows = drawn_table(7, 3, random);
  for (const bool high_variance : {false, true}) {
    if (high_variance) rows[2] = drawn(3, 5.0, 200.0, random);
    const std::vector<size_t> baselines = {0, 0, 0, 2, 3, 0, 2};
    const std::vector<SeedTests> tests = seed_tests(rows, baselines);
    for (size_t i = 1; i < rows.size(); ++i) {
      auto moved = rows;
      std::swap(moved[0], moved[baselines[i]]);  // tables are tested as a set of rows
      const SeedTests expected = seed_tests(moved)[i];
      CHECK(tests[i].over_seeds->p_value == Approx(expected.over_seeds->p_value));
      CHECK(tests[i].over_seeds->interval.low == Approx(expected.over_seeds->interval.low));
      CHECK(tests[i].welch->p_value == Approx(expected.welch->p_value));
      CHECK(tests[i].high_variance == expected.high_variance);
    }
  }
  rows[3] = {};  // without a mean: the rows compared with it are not tested, the others are
  const auto tests = seed_tests(rows, std::vector<size_t>{0, 0, 0, 2, 3, 0, 2});
  CHECK((!tests[3].over_seeds && !tests[4].over_seeds && tests[6].over_seeds));
}

TEST_CASE("a high-variance row keeps the level, for any numbers of seeds", "[slow]") {
  constexpr int kTables = 3'000;
  Random random(47);
  int high_variance = 0, found = 0;
  for (int i = 0; i < kTables; ++i) {
    auto rows = drawn_table(12, 3, random);
    rows[0] = drawn(5, 5.0, 1.0, random);
    rows[1] = drawn(2, 5.0, 30.0, random);
    const SeedTests test = seed_tests(rows)[1];
    if (!test.high_variance) continue;
    ++high_variance;
    found += test.over_seeds->p_value < kSignificance;
  }
  CHECK(high_variance > kTables / 2);
  CHECK(static_cast<double>(found) / high_variance < kSignificance);
}

TEST_CASE("rows without any deviation are tested with that of the others") {
  const auto constant = [](double value) {
    return SeedMean{.mean = value, .deviation = 0.0, .seeds = 3};
  };
  const SeedMean varying{.mean = 5.0, .deviation = 0.5, .seeds = 3};
  const std::vector<std::optional<SeedMean>> rows = {constant(5.0), constant(5.5), constant(5.0),
                                                     varying};
  const std::vector<SeedTests> tests = seed_tests(rows);
  for (size_t i = 1; i < rows.size(); ++i) {
    CHECK(!tests[i].high_variance);
    CHECK(tests[i].over_seeds->degrees_of_freedom == 2);
  }
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
    const auto tests = attn::seed_tests(rows, std::vector<size_t>(6, 0), first_equivalent);
    CHECK(tests[1].over_seeds->degrees_of_freedom == 2);
    found += tests[1].over_seeds->p_value < kSignificance;
    alone += seed_tests(rows)[1].over_seeds->p_value < kSignificance;
  }
  CHECK(static_cast<double>(found) / kTables == Approx(kSignificance).margin(0.012));
  CHECK(static_cast<double>(alone) / kTables > 0.08);
}

TEST_CASE("Welch's test needs variances with degrees of freedom") {
  const SeedMean base{.mean = 1.0, .deviation = 0.5, .seeds = 3}, row{.mean = 2.0, .seeds = 1};
  CHECK(!welch_test(base, {.variance = 0.25, .degrees_of_freedom = 2}, row, {}));
}

TEST_CASE("collapsed rows, whose seeds all have the same score, do not change the level") {
  constexpr int kTables = 2'000;
  Random random(53);
  int found = 0;
  for (int i = 0; i < kTables; ++i) {
    auto rows = drawn_table(8, 3, random);
    for (size_t row = 3; row < rows.size(); ++row) {
      rows[row] = SeedMean{.mean = 0.0, .deviation = 0.0, .seeds = 3};
    }
    found += seed_tests(rows)[1].over_seeds->p_value < kSignificance;
  }
  CHECK(static_cast<double>(found) / kTables == Approx(kSignificance).margin(0.015));
}

TEST_CASE("a row that diverged is not tested, and does not change the tests of the others") {
  Random random(41);
  auto rows = drawn_table(5, 3, random);
  const auto before = seed_tests(std::vector(rows.begin(), rows.end() - 1));
  const double mean = 5.0, infinite = INFINITY;
  // The second overflows only where it is squared.
  for (const SeedMean& diverged : {SeedMean{infinite, std::nan(""), 3}, SeedMean{mean, 1e200, 3},
                                   SeedMean{infinite, {}, 1}, SeedMean{std::nan(""), {}, 1}}) {
    rows.back() = diverged;
    const auto after = seed_tests(rows);
    for (size_t i = 1; i < before.size(); ++i) {
      CHECK(after[i].over_seeds->p_value == before[i].over_seeds->p_value);
    }
    CHECK(!after.back().over_seeds);
    CHECK(!after.back().welch);
    std::swap(rows.front(), rows.back());
    for (const SeedTests& tests : seed_tests(rows)) CHECK(!tests.over_seeds);
    std::swap(rows.front(), rows.back());
  }
}
