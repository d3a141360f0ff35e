#include "base/error.h"

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("a message shows every byte of a value, also NUL and malformed UTF-8") {
  CHECK(printable("größe 1 → 2\tline\n") == "größe 1 → 2\\tline\\n");
  CHECK(printable(std::string("a\0b\x1b\x7f", 5)) == "a\\x00b\\x1b\\x7f");
  CHECK(printable("\xff\xfe(\xc3") == "\\xff\\xfe(\\xc3");
  CHECK(printable("") == "");
  const DataError error("file:1: '" + std::string(1, '\0') + "' is no bracket; expected '('");
  CHECK(std::string(error.what()) == "file:1: '\\x00' is no bracket; expected '('");
}
