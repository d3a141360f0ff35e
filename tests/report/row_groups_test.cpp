#include "report/row_groups.h"

#include <string>
#include <vector>

#include "report/numeric_grid.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::run;
using testing::sweep;

namespace {

// A row that sets these options; "seed" keeps it apart from values.
RowRecord changed(const std::string& name, std::vector<std::pair<std::string, std::string>> set) {
  RowRecord record = testing::row(name, 0, 0, {run(1, 5, 25)});
  record.values = {{"model.heads", "8"}, {"model.d_k", "64"}, {"model.d_ff", "256"}};
  for (const auto& [path, value] : set) {
    record.values[path] = value;
    record.changed.push_back(path);
  }
  return record;
}

std::vector<std::string> names_of(const SweepResults& results) {
  std::vector<std::string> names;
  for (const RowGroup& group : row_groups(results)) {
    std::string text = group.name;
    text += ":";
    for (const size_t row : group.rows) text.append(" ").append(results.rows[row].name);
    names.push_back(text);
  }
  return names;
}

}  // namespace

TEST_CASE("rows are grouped by the letters of Table 3, by grid, or by what they change") {
  const auto results =
      sweep({changed("base", {}), changed("A1", {{"model.heads", "1"}}),
             changed("B1", {{"model.d_k", "16"}}), changed("A2", {{"model.heads", "4"}}),
             changed("big", {{"model.d_ff", "1024"}, {"model.d_k", "32"}}),
             changed("width.d_ff=128", {{"model.d_ff", "128"}}),
             changed("width.d_ff=512", {{"model.d_ff", "512"}}),
             changed("rotary", {{"model.position", "\"rotary\""}}),
             changed("learned", {{"model.position", "\"learned\""}}), changed("same", {})});
  CHECK(names_of(results) == std::vector<std::string>{"A: A1 A2", "B: B1", "big: big",
                                                      "width: width.d_ff=128 width.d_ff=512",
                                                      "position: rotary learned", "same: same"});
  const auto groups = row_groups(results);
  CHECK(groups[0].options == "heads");
  CHECK(groups[2].options == "d_ff, d_k");
  CHECK(groups[4].options.empty());
  CHECK(name_in_group(results.rows[5], groups[3]) == "d_ff=128");
  CHECK(name_in_group(results.rows[1], groups[0]) == "A1");
  CHECK(row_words(results.rows[4]) == "d_ff 1024, d_k 32");
  CHECK(row_hover(results.rows[7]) == "rotary (position rotary)");
}

TEST_CASE("rows with a group in the sweep file are shown together, in its order") {
  auto results = sweep(
      {changed("base", {}), changed("rotary", {{"model.position", "\"rotary\""}}),
       changed("to_rms", {{"model.norm", "\"pre\""}}), changed("alone", {{"model.d_ff", "64"}}),
       changed("to_rotary", {{"model.position", "\"rotary\""}}),
       changed("g.heads=1", {{"model.heads", "1"}}), changed("g.heads=2", {{"model.heads", "2"}})});
  for (const size_t row : {2, 4}) results.rows[row].group = "Step by step";
  for (const size_t row : {5, 6}) results.rows[row].group = "Heads";
  CHECK(names_of(results) ==
        std::vector<std::string>{"rotary: rotary", "Step by step: to_rms to_rotary", "alone: alone",
                                 "Heads: g.heads=1 g.heads=2"});
  const auto groups = row_groups(results);
  CHECK(groups[1].given);
  CHECK(groups[1].options == "norm, position");
  CHECK_FALSE(groups[0].given);
  CHECK(name_in_group(results.rows[5], groups[3]) == "heads=1");
  CHECK(name_in_group(results.rows[2], groups[1]) == "to_rms");
  // The rows of a grid keep their axis in a group with a name of its own.
  const auto grid = numeric_grid(results, groups[3]);
  REQUIRE(grid);
  CHECK(grid->series.front().entries.size() == 3);
}

TEST_CASE("many rows of their own make one group") {
  SweepResults results = sweep({changed("base", {})});
  for (size_t k = 0; k <= kMaxGroups; ++k) {
    std::string name = "row_";
    name += std::to_string(k);
    std::string path = "model.option_";
    path += std::to_string(k);
    results.rows.push_back(changed(name, {{path, "1"}}));
  }
  const auto groups = row_groups(results);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].rows.size() == kMaxGroups + 1);
  CHECK(groups[0].options.ends_with("…"));
}

TEST_CASE("a grid over a number has the first row among its values") {
  auto results = sweep({changed("base", {}), changed("w.d_ff=512", {{"model.d_ff", "512"}}),
                        changed("w.d_ff=128", {{"model.d_ff", "128"}})});
  auto grid = numeric_grid(results, row_groups(results)[0]);
  REQUIRE(grid);
  CHECK(grid->path == "model.d_ff");
  REQUIRE(grid->series.size() == 1);
  std::vector<double> values;
  for (const auto& entry : grid->series[0].entries) values.push_back(entry.value);
  CHECK(values == std::vector<double>{128, 256, 512});
  CHECK(grid->series[0].entries[1].row == 0);
  // Not if its rows also set another option alike.
  for (size_t i : {1, 2}) {
    results.rows[i].values["model.heads"] = "4";
    results.rows[i].changed.emplace_back("model.heads");
  }
  CHECK_FALSE(numeric_grid(results, row_groups(results)[0]));
}

TEST_CASE("a grid over two options has a series for each value of the other one") {
  SweepResults results = sweep({changed("base", {})});
  for (const char* heads : {"1", "4", "16"}) {
    for (const char* rate : {"0.0", "0.3"}) {
      const std::string name = std::string("g.heads=") + heads + ".dropout=" + rate;
      results.rows.push_back(changed(name, {{"model.heads", heads}, {"model.dropout", rate}}));
    }
  }
  const auto grid = numeric_grid(results, row_groups(results)[0]);
  REQUIRE(grid);
  CHECK(grid->path == "model.heads");
  REQUIRE(grid->series.size() == 2);
  CHECK(grid->series[0].label == "dropout=0.0");
  CHECK(grid->series[1].label == "dropout=0.3");
  for (const auto& series : grid->series) CHECK(series.entries.size() == 3);
}

TEST_CASE("options that are no numbers, and rows that change different options, are no grid") {
  auto results = sweep({changed("base", {}), changed("p.position=a", {{"model.position", "\"a\""}}),
                        changed("p.position=b", {{"model.position", "\"b\""}}),
                        changed("p.position=c", {{"model.position", "\"c\""}})});
  CHECK_FALSE(numeric_grid(results, row_groups(results)[0]));
  results = sweep({changed("base", {}), changed("C1", {{"model.heads", "1"}}),
                   changed("C2", {{"model.heads", "2"}}), changed("C3", {{"model.heads", "4"}}),
                   changed("C4", {{"model.d_ff", "64"}})});
  CHECK(results.rows.size() == 5);
  CHECK_FALSE(numeric_grid(results, row_groups(results)[0]));
}
