#include "report/forest_plot.h"

#include <string>

#include "tests/report/pages.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::count_of;

namespace {

Forest forest_of(const std::vector<double>& differences) {
  Forest forest;
  Forest::Panel panel{.metric = "BLEU", .title = "BLEU, test", .base = "base 25.00"};
  for (size_t i = 0; i < differences.size(); ++i) {
    std::string name = "row";
    name += std::to_string(i);
    forest.rows.push_back({.name = name, .words = "a row", .hover = "what it is"});
    panel.cells.push_back(
        {.ours = differences[i], .interval = Interval{differences[i] - 0.5, differences[i] + 0.5}});
  }
  forest.panels = {panel};
  return forest;
}

// The abscissas of the rows' points.
std::vector<double> points_of(const std::string& svg) {
  std::vector<double> out;
  for (const std::string& x : testing::attributes(svg, "cx")) out.push_back(std::stod(x));
  return out;
}

}  // namespace

TEST_CASE("a forest plot has every row with its words, difference and hover text") {
  const Forest forest = forest_of({-1.25, 0.5, 0.75});
  for (const std::string& svg : {wide_forest(forest), narrow_forest(forest, forest.panels[0])}) {
    testing::check_page(svg);
    CHECK(count_of(svg, "<circle") == 3);
    CHECK(count_of(svg, "<title>what it is</title>") == 3);
    CHECK(count_of(svg, ">a row<") == 3);
    CHECK_THAT(svg, contains(">row2<") && contains(">−1.25<") && contains(">base 25.00<"));
    CHECK_THAT(svg, contains("← worse") && contains("better →"));
  }
}

TEST_CASE("long names leave a gap before the words, and keep their ends") {
  Forest forest = forest_of({1, 2});
  forest.rows[0].name = "hd.heads=1.dropout=0.3";
  forest.rows[1].name = "a_grid.learning_rate=0.001.label_smoothing=0.05";
  const std::string narrow = narrow_forest(forest, forest.panels[0]);
  CHECK_THAT(narrow, contains(">hd.heads=1.dropout=0.3<") && contains("…=0.05<"));
  // In bold DejaVu Sans of 12 pixels, one of the widest fonts, the first name has 174 pixels.
  const size_t at = narrow.find("class=\"words\"");
  REQUIRE(at != std::string::npos);
  const std::string element = narrow.substr(narrow.rfind('<', at), 100);
  const double words = std::stod(testing::attributes(element, "x").at(0));
  CHECK(words > 178);
  CHECK_THAT(wide_forest(forest), contains("…=0.05<"));
}

TEST_CASE("better is to the right, whether higher or lower") {
  Forest forest = forest_of({-1, 0, 2});
  auto xs = points_of(wide_forest(forest));
  CHECK((xs[0] < xs[1] && xs[1] < xs[2]));
  forest.panels[0].lower_is_better = true;
  xs = points_of(wide_forest(forest));
  CHECK((xs[0] > xs[1] && xs[1] > xs[2]));
}

TEST_CASE("an outlier is an arrow with its value, and leaves the others where they were") {
  const auto before = points_of(wide_forest(forest_of({-1.2, 0.4, -0.3, 0.8})));
  for (const double outlier : {-19.5, 250.0}) {
    const std::string svg = wide_forest(forest_of({-1.2, 0.4, -0.3, 0.8, outlier}));
    const auto after = points_of(svg);
    REQUIRE(after.size() == before.size());  // the outlier has no circle
    for (size_t i = 0; i < before.size(); ++i) CHECK(after[i] == Approx(before[i]));
    CHECK(count_of(svg, outlier < 0 ? ">−19.50<" : ">+250.00<") == 2);  // arrow and column
    testing::check_page(svg);
  }
}

TEST_CASE("a group with a name has its heading above its first row") {
  Forest forest = forest_of({1, 2, 3});
  const auto rows_of = [](const std::string& svg) {
    std::vector<double> out;
    for (const std::string& y : testing::attributes(svg, "cy")) out.push_back(std::stod(y));
    return out;
  };
  const auto before = rows_of(wide_forest(forest));
  forest.rows[1].new_group = true;
  forest.rows[1].heading = "Norms & positions";
  for (const std::string& svg : {wide_forest(forest), narrow_forest(forest, forest.panels[0])}) {
    testing::check_page(svg);
    CHECK(count_of(svg, ">Norms &amp; positions<") == 1);
  }
  const auto after = rows_of(wide_forest(forest));
  CHECK(after[0] == before[0]);
  CHECK(after[1] > before[1] + 20);
  CHECK(after[2] - after[1] == Approx(before[2] - before[1]));
}

TEST_CASE("rows without a difference show their state") {
  Forest forest = forest_of({1, 2});
  forest.panels[0].cells[1] = {.state = "failed"};
  const std::string svg = wide_forest(forest);
  CHECK_THAT(svg, contains(">failed<") && contains(">row1<"));
  CHECK(count_of(svg, "<circle") == 1);
}

TEST_CASE("the paper's differences are shown in our unit, at the edge if beyond it") {
  Forest forest = forest_of({-1, 0.5, 0.75});
  for (size_t i = 0; i < 3; ++i) forest.panels[0].cells[i].paper = i == 0 ? -40.0 : 0.4;
  const std::string svg = wide_forest(forest);
  CHECK(count_of(svg, "class=\"paper\"") == 3);
  CHECK_THAT(svg, contains(">−40.0<") && contains(">+0.4<") && contains(">paper<"));
  testing::check_page(svg);
}
