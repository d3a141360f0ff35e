#include "base/format.h"

#include <limits>
#include <string>

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("formatted text is printf's, of any length") {
  CHECK(format("plain") == "plain");
  CHECK(format("%.2f of %d %s", 1.005, 3, "rows") == "1.00 of 3 rows");
  CHECK(format("%s", "").empty());
  const std::string longer(100'000, 'x');
  CHECK(format("<%s>", longer.c_str()) == "<" + longer + ">");
}

TEST_CASE("counted things are in the singular or the plural") {
  CHECK(counted(1, "line") == "1 line");
  CHECK(counted(0, "line") == "0 lines");
  CHECK(counted(1, "batch", "batches") == "1 batch");
  CHECK(counted(2, "batch", "batches") == "2 batches");
}

TEST_CASE("texts are joined with a separator between them") {
  CHECK(joined(std::vector<std::string>{"a", "", "b"}, ", ") == "a, , b");
  CHECK(joined(std::vector<std::string_view>{"a", "b"}) == "a b");
  CHECK(joined(std::vector<std::string>{}).empty());
}

TEST_CASE("significant digits without an exponent for large numbers") {
  CHECK(significant(17574.2, 4) == "17574");
  CHECK(significant(-17574.2, 3) == "-17574");
  CHECK(significant(9999.4, 4) == "9999");
  CHECK(significant(999.7, 3) == "1000");
  CHECK(significant(12.5, 4) == "12.5");
  CHECK(significant(0.00012345, 3) == "0.000123");
  CHECK(significant(0, 4) == "0");
  CHECK(significant(std::numeric_limits<double>::infinity(), 4) == "inf");
}
