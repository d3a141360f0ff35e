#include "app/commands/input_chunks.h"

#include <sstream>

#include "tests/support/catch.h"

using namespace attn;
using Lines = std::vector<std::string>;

TEST_CASE("lines end in \\n or \\r\\n, the last one perhaps without, and may be empty") {
  const auto lines_of = [](const std::string& text) {
    std::istringstream in(text);
    Lines lines;
    for (std::string line; next_line(in, line);) lines.push_back(line);
    CHECK_FALSE(has_failed(in));
    return lines;
  };
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("a\n\r\nb c") == Lines{"a", "", "b c"});
  CHECK(lines_of("a\nb\n") == Lines{"a", "b"});
  CHECK(lines_of(std::string("a\0b\n", 4)) == Lines{std::string("a\0b", 3)});
}
