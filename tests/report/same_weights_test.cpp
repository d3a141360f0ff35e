// Rows that evaluate the weights of another row differently.
#include <cmath>
#include <optional>
#include <vector>

#include "report/seed_tests.h"
#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("a row that evaluates a high-variance row's runs has that row's variance") {
  const std::vector<std::vector<double>> scores = {{35, 35.1, 35.2},  {35.3, 35.2, 35.25},
                                                   {34.9, 35, 35.05}, {34, 34.1, 34.05},
                                                   {20, 30, 33},      {29}};
  std::vector<std::optional<SeedMean>> rows;
  for (const auto& of_row : scores) rows.push_back(seed_mean(of_row));
  const auto tests =
      attn::seed_tests(rows, std::vector<size_t>(6, 0), std::vector<size_t>{0, 1, 2, 3, 4, 4});
  REQUIRE((tests[4].high_variance && tests[5].high_variance && !tests[3].high_variance));
  const double deviation = *rows[4]->deviation, common = tests[3].over_seeds->error;
  CHECK(tests[5].over_seeds->error ==
        Approx(std::sqrt(deviation * deviation + common * common / 2)));
  CHECK(tests[5].over_seeds->degrees_of_freedom == Approx(2.0).epsilon(0.01));
}

TEST_CASE("two evaluations of the same runs are compared seed by seed") {
  const std::vector<double> base = {20.0, 30.0, 25.0}, row = {21.0, 32.0, 28.0};
  const SeedTest test = *paired_test(base, row);
  CHECK(test.degrees_of_freedom == 2);
  CHECK(test.p_value == Approx(0.07417990022744853));  // scipy.stats.ttest_rel(row, base)
  CHECK(test.interval.low == Approx(-0.4841377117503217));
  CHECK(test.interval.high == Approx(4.484137711750322));
  CHECK(!paired_test(base, base));
  CHECK(!paired_test(std::vector<double>{1.0}, std::vector<double>{2.0}));
  CHECK(!paired_test(base, std::vector<double>{1.0, NAN, 2.0}));
}
