#include "base/format.h"

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
