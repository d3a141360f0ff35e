#include "base/parse_number.h"

#include <cstdint>
#include <limits>
#include <string>

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("a number is the whole of its text") {
  CHECK(parse_number<int64_t>("0") == 0);
  CHECK(parse_number<int64_t>("-12") == -12);
  CHECK(parse_number<double>("4.92") == 4.92);
  CHECK(parse_number<double>("-1e-5") == -1e-5);
  for (const char* text : {"", " ", "1 ", " 1", "1\n", "+1", "1.5", "0x10", "1e3", "one", "-"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number<int64_t>(text));
  }
  for (const char* text : {"", ".", "1.5x", "1,5", "+1.5", "e5"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number<double>(text));
  }
}

TEST_CASE("a number that its type cannot hold is none") {
  const auto max = std::numeric_limits<int64_t>::max();
  CHECK(parse_number<int64_t>(std::to_string(max)) == max);
  CHECK_FALSE(parse_number<int64_t>(std::to_string(max) + "0"));
  CHECK_FALSE(parse_number<int64_t>("9223372036854775808"));
  CHECK_FALSE(parse_number<double>("1e999"));
}
