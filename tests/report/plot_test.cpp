#include "report/plot.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

TEST_CASE("axis marks are round, within the axis and not too many") {
  CHECK(axis_ticks(0, 10, false, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  for (const auto& [low, high, logarithmic] : {std::tuple{-0.013, 0.021, false},
                                               {3.0, 9000.0, true},
                                               {4.1, 4.9, true},
                                               {1e12, 1e19, true}}) {
    const auto ticks = axis_ticks(low, high, logarithmic, 6);
    INFO(low << " to " << high);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 9);
    CHECK(std::is_sorted(ticks.begin(), ticks.end()));
    CHECK(ticks.front() >= low);
    CHECK(ticks.back() <= high);
  }
  CHECK(axis_ticks(1, 1, false, 5).empty());
}

TEST_CASE("a plot draws what can be drawn") {
  Plot plot{.title = "t", .x = {"x", true}, .y = {"y", false}};
  CHECK(to_svg(plot, 400, 300).empty());
  plot.points = {{.label = "bad", .x = -1, .y = 2}, {.label = "nan", .x = 1, .y = std::nan("")}};
  CHECK(to_svg(plot, 400, 300).empty());
  plot.points.push_back({.label = "a <b>", .x = 10, .y = 2});
  const std::string svg = to_svg(plot, 400, 300);
  CHECK_THAT(svg, contains("a &lt;b&gt;") && contains("<circle"));
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("bad") == std::string::npos);
}
