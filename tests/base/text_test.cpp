// Texts of messages and of numbers.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/format.h"
#include "base/parse_number.h"
#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("a value outside of its range is an error that names the range") {
  CHECK_NOTHROW(require_between("width", 1, 1, 3));
  CHECK_NOTHROW(require_between("width", 3, 1, 3));
  CHECK_THROWS_WITH(require_between("width", 4, 1, 3), "width: 4: must be from 1 to 3");
  CHECK_THROWS_WITH(require_between("width", int64_t{-1}, 0, 1 << 20),
                    "width: -1: must be from 0 to 1048576");
  CHECK_THROWS_WITH(require_between("rate", 2.5, 0, 1), "rate: 2.5: must be from 0 to 1");
  CHECK_THROWS_AS(require_between("rate", std::numeric_limits<double>::quiet_NaN(), 0, 1),
                  ConfigError);
}

TEST_CASE("an insertion, a deletion, a substitution and a swap of neighbours count one each") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("heads", "head") == 1);
  CHECK(edit_distance("heads", "hexds") == 1);
  CHECK(edit_distance("heads", "hedas") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("a misspelt word gets the nearest choice, another word the list of all") {
  const std::vector<std::string> choices = {"heads", "layers", "d_model"};
  CHECK(nearest("hedas", choices) == "heads");
  CHECK(nearest("layer", choices) == "layers");
  CHECK(nearest("zzzzzz", choices).empty());
  // Neither its case nor its end matters; of a short word only one letter may differ.
  const std::vector<std::string> names = {"adam", "adamw", "none", "convolution", "gelu"};
  CHECK(nearest("adamW", names) == "adamw");
  CHECK(nearest("conv", names) == "convolution");
  CHECK(nearest("rope", names).empty());
  CHECK(suggestion("d_modle", choices) == "; did you mean d_model?");
  CHECK(suggestion("zzzzzz", choices) == "; one of: heads, layers, d_model");
}

TEST_CASE("a message shows every byte of a value, also NUL and malformed UTF-8") {
  CHECK(printable("größe 1 → 2\tline\n") == "größe 1 → 2\\tline\\n");
  CHECK(printable(std::string("a\0b\x1b\x7f", 5)) == "a\\x00b\\x1b\\x7f");
  CHECK(printable("\xff\xfe(\xc3") == "\\xff\\xfe(\\xc3");
  CHECK(printable("") == "");
  const DataError error("file:1: '" + std::string(1, '\0') + "' is no bracket; expected '('");
  CHECK(std::string(error.what()) == "file:1: '\\x00' is no bracket; expected '('");
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
