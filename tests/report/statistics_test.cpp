#include "report/statistics.h"

#include <cmath>

#include "base/json_config.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;

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
