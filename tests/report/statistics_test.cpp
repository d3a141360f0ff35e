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

TEST_CASE("p-values of F are SciPy's") {
  for (const Json& one : cases("f")) {
    INFO(one.dump());
    CHECK(f_p_value(one["ratio"].get<double>(), one["numerator"].get<double>(),
                    one["denominator"].get<double>()) ==
          Approx(one["p_value"].get<double>()).epsilon(kExact));
  }
  CHECK(f_p_value(INFINITY, 3, 4) == 0.0);
  CHECK(f_p_value(0.0, 3, 4) == 1.0);
}

TEST_CASE("quantiles of Student's t are SciPy's") {
  for (const Json& one : cases("quantile")) {
    INFO(one.dump());
    const double degrees = one["degrees"].get<double>();
    CHECK(student_t_quantile(one["probability"].get<double>(), degrees) ==
          Approx(one["t"].get<double>()).epsilon(kExact).margin(kExact));
  }
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
    CHECK(minimum_detectable_difference(2.0, degrees, level, one["power"].get<double>()) ==
          Approx(2.0 * one["difference"].get<double>()).epsilon(kIterative));
  }
  CHECK(t_test_power(0.0, 7) == Approx(kSignificance).margin(kExact));
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
