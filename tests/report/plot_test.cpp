#include "report/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "report/plot_labels.h"
#include "report/scale.h"
#include "tests/report/pages.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::count_of;

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
  // Perplexities of runs that diverged.
  for (const double high : {1e9, 1e40, 1e300, std::numeric_limits<double>::max()}) {
    const Scale scale = make_scale({2.0, high}, true, 0, 100);
    CHECK(std::isfinite(scale.high));
    const auto ticks = axis_ticks(scale.low, scale.high, true, 6);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 6);
    CHECK(axis_ticks(2.0, high, false, 6).size() <= 8);
  }
  CHECK(axis_ticks(-INFINITY, INFINITY, false, 6).empty());
}

TEST_CASE("numbers of ticks are short and have separators") {
  CHECK(tick_text(0) == "0");
  CHECK(tick_text(-3) == "−3");
  CHECK(tick_text(10000) == "10,000");
  CHECK(tick_text(999) == "999");
  CHECK(tick_text(999999) == "999,999");
  CHECK(tick_text(999999.7) == "1e6");
  CHECK(tick_text(0.05) == "0.05");
  CHECK(tick_text(4.25e10) == "4.25e10");
  CHECK(tick_text(-1e-5) == "−1e-5");
}

TEST_CASE("an outlier does not change the range of the others") {
  const std::vector<double> calm = {-1.1, -0.2, 0.4, -2.5, 1.2, -0.6};
  const Interval range = robust_range(calm, 0);
  CHECK(range.low == -2.5);
  CHECK(range.high == 1.2);
  for (const double outlier : {-21.0, 40.0, 1e9, static_cast<double>(NAN), -INFINITY * 1.0}) {
    std::vector<double> values = calm;
    values.push_back(outlier);
    const Interval again = robust_range(values, 0);
    INFO(outlier);
    CHECK(again.low == range.low);
    CHECK(again.high == range.high);
  }
  // Differences in proportion are all shown, and so are few.
  CHECK(robust_range(std::vector<double>{-9.1, -6.2, -4.7, -2.6, -1.6, 0.5}, 0).low == -9.1);
  CHECK(robust_range(std::vector<double>{0.1, 30.0}, 0).high == 30.0);
  CHECK(robust_range(std::vector<double>{0, 0, 0, 0, 3}, 0).high == 3);
  const Interval none = robust_range({}, 7);
  CHECK(none.low == 7);
  CHECK(none.high == 7);
}

TEST_CASE("labels of a column do not overlap and stay near their lines") {
  const std::vector<double> wanted = {50, 51, 52, 120, 49, 200, 199};
  const std::vector<double> places = spread_labels(wanted, 12, 0, 220);
  std::vector<double> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i) CHECK(sorted[i] - sorted[i - 1] >= 12 - 1e-9);
  CHECK(places[3] == 120);
  CHECK((places[0] + places[1] + places[2] + places[4]) / 4 == Approx(50.5));
  CHECK(places[4] < places[0]);
  CHECK(sorted.back() <= 220 - 6 + 1e-9);
  CHECK(spread_labels({-30, 400}, 12, 0, 220) == std::vector<double>{6, 214});
}

TEST_CASE("labels of points overlap neither each other nor what is blocked, or are left out") {
  PointLabels labels({0, 0, 200, 100});
  const Box blocked{60, 40, 30, 20};
  labels.block(blocked);
  std::vector<Box> placed;
  for (int k = 0; k < 30; ++k) {
    if (const auto box = labels.place(50, 50, 40, 12)) placed.push_back(*box);
  }
  CHECK(placed.size() >= 2);
  CHECK(placed.size() < 30);
  for (size_t i = 0; i < placed.size(); ++i) {
    CHECK(placed[i].overlap(blocked) == 0);
    CHECK(placed[i].overlap({0, 0, 200, 100}) == Approx(40 * 12));
    for (size_t k = 0; k < i; ++k) CHECK(placed[i].overlap(placed[k]) == 0);
  }
}

TEST_CASE("a plot draws what can be drawn") {
  Plot plot{.description = "t", .x = {"x", true}, .y = {"y", false}};
  CHECK(to_svg(plot).empty());
  plot.points = {{.label = "bad", .x = -1, .y = 2}, {.label = "worse", .x = 1, .y = std::nan("")}};
  CHECK(to_svg(plot).empty());
  plot.points.push_back({.label = "a <b>", .hover = "<i>", .x = 10, .y = 2});
  const std::string svg = to_svg(plot);
  CHECK_THAT(svg, contains("a &lt;b&gt;") && contains("<title>&lt;i&gt;") && contains("<circle"));
  CHECK(svg.find("bad") == std::string::npos);
  testing::check_page(svg);
}

TEST_CASE("what lies beyond an axis is marked with its value") {
  Plot plot{.description = "t", .x = {"x"}, .y = {"y", false, Interval{0, 10}}};
  plot.lines = {{.label = "low", .points = {{0, 5}, {10, 1}}},
                {.label = "high", .points = {{0, 5}, {10, 70}}}};
  plot.points = {{.label = "p", .x = 3, .y = 4, .error = 30}, {.label = "q", .x = 5, .y = -33}};
  const std::string svg = to_svg(plot);
  CHECK_THAT(svg, contains(">low<") && contains(">high ↑ 70.0<") && contains(">q -33.0<"));
  CHECK(count_of(svg, "<circle") == 1);
  testing::check_page(svg);
}

TEST_CASE("texts are cut off between characters") {
  CHECK(fitted_text("short", 100, 12) == "short");
  const std::string cut = fitted_text("ääääääääää", 60, 12);
  CHECK(cut.ends_with("…"));
  CHECK(text_width(cut, 12) <= 60 + 4);
  CHECK(cut.size() % 2 == 1);  // two bytes each, and the ellipsis' three
  CHECK(fitted_text("words", 1, 12) == "…");
}

TEST_CASE("a row's name that is too wide keeps what differs within its grid") {
  CHECK(fitted_name("heads=2.dropout=0.3", 300, 12) == "heads=2.dropout=0.3");
  CHECK(fitted_name("heads=2.dropout=0.3", 140, 13.4) == "heads=2.dro…=0.3");
  CHECK(fitted_name("heads=2.dropout=0.3 ↑ 70.0", 190, 13.4) == "heads=2.dro…=0.3 ↑ 70.0");
  const std::string long_name = "learning_rate=0.001.warmup=200.smoothing=all";
  const std::string cut = fitted_name(long_name, 260, 13.4);
  CHECK_THAT(cut, contains("…=0.001.") && contains("…=200.") && contains("…=all"));
  for (const double width : {90.0, 140.0, 200.0, 260.0}) {
    for (const char* name :
         {"heads=2.dropout=0.3", "a_long_name_without_any_option", "äöüäöüäöüäöüäöü",
          "=====================", "hd.heads=1.dropout=0.3", "x.äöüäöüäöü=4"}) {
      INFO(name << " " << width);
      CHECK(text_width(fitted_name(name, width, 13.4), 13.4) <= width);
    }
  }
  CHECK(fitted_name("ääääääääää", 60, 12) == "ää…ää");
  CHECK_THAT(fitted_name("a_long_name_without_any_option_1", 120, 12),
             Catch::Matchers::EndsWith("_1"));
}
