#include "app/commands/stdin_lines.h"

#include <sstream>

#include "tests/support/catch.h"

using namespace attn;

namespace {

struct Line {
  std::string text;
  bool cut = false;
  bool operator==(const Line&) const = default;
};

std::vector<Line> lines_of(const std::string& text, size_t limit = std::string::npos) {
  std::istringstream in(text);
  std::vector<Line> lines;
  Line line;
  while (next_line(in, line.text, limit, &line.cut)) lines.push_back(line);
  CHECK_FALSE(has_failed(in));
  return lines;
}

std::vector<Line> whole(const std::vector<std::string>& texts) {
  std::vector<Line> lines;
  for (const std::string& text : texts) lines.push_back({text, false});
  return lines;
}

}  // namespace

TEST_CASE("lines end in \\n or \\r\\n, the last one perhaps without, and may be empty") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n") == whole({""}));
  CHECK(lines_of("a\n\r\nb c") == whole({"a", "", "b c"}));
  CHECK(lines_of("a\nb\n") == whole({"a", "b"}));
  CHECK(lines_of(std::string("a\0b\n", 4)) == whole({std::string("a\0b", 3)}));
}

TEST_CASE("lines longer than the limit are cut, of any length compared with the buffer") {
  CHECK(lines_of("abcd\nabc\nab\n", 3) == std::vector<Line>{{"abc", true}, {"abc"}, {"ab"}});
  const size_t buffer = size_t{1} << 16;
  for (const size_t size : {buffer - 2, buffer - 1, buffer, buffer + 1, 3 * buffer}) {
    const std::string x(size, 'x');
    CHECK(lines_of(x + "\nz") == whole({x, "z"}));
    CHECK(lines_of("z\n" + x) == whole({"z", x}));
    CHECK(lines_of(x + "\nz", 10) == std::vector<Line>{{"xxxxxxxxxx", true}, {"z"}});
    CHECK(lines_of(x + "\nz", size) == whole({x, "z"}));
    CHECK(lines_of(x, size - 1) == std::vector<Line>{{x.substr(1), true}});
  }
}
