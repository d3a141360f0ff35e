#include "data/lines.h"

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace attn {
namespace {

using testing::contains;
using testing::TemporaryDirectory;
using Lines = std::vector<std::string>;

const std::string mark = "\xEF\xBB\xBF";

/// By LineReader, by read_lines, and of the text by take_line.
Lines lines_of(const std::string& content) {
  const TemporaryDirectory directory;
  const auto path = directory.write("text", content);
  LineReader reader(path);
  Lines lines, taken;
  for (std::string line; reader.next(line);) lines.push_back(line);
  CHECK(reader.number() == std::ssize(lines));
  CHECK(reader.hash() == hash_text(content));
  CHECK((read_lines(path) == lines));  // not to be printed
  std::string_view rest = std::string_view(content).substr(content.starts_with(mark) ? 3 : 0);
  while (!rest.empty()) taken.emplace_back(take_line(rest));
  CHECK((taken == lines));
  return lines;
}

}  // namespace

TEST_CASE("lines end in a line feed, with or without a carriage return, or at the end") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("a\r\nb\rc\r\n\r\n") == Lines{"a", "b\rc", ""});
  CHECK(lines_of("a\n\n b \n") == Lines{"a", "", " b "});
  const std::string odd("a\v\xe2\x80\xa8\0b", 7);
  CHECK(lines_of(odd + "\n" + odd) == Lines{odd, odd});
}

TEST_CASE("a byte order mark is dropped at the start of a text alone, or kept") {
  CHECK(lines_of(mark + "a\n" + mark + "b\n") == Lines{"a", mark + "b"});
  CHECK(lines_of(mark + "\r\n") == Lines{""});
  CHECK(lines_of(mark + mark + "a") == Lines{mark + "a"});
  const TemporaryDirectory folder;
  CHECK(read_lines(folder.write("f", mark + "a"), ByteOrderMark::keep) == Lines{mark + "a"});
}

TEST_CASE("lines across buffer boundaries are complete, very long ones are truncated") {
  const std::string wide(300'000, 'w');
  CHECK(lines_of("a\n" + wide + "\nb") == Lines{"a", wide, "b"});
  std::string text;
  Lines many;
  for (int i = 0; i < 60000; ++i) {
    many.push_back(std::to_string(i));
    text += many.back() + (i % 2 ? "\r\n" : "\n");
  }
  CHECK((lines_of(text) == many));

  const TemporaryDirectory directory;
  const std::string longest(3 << 20, 'e');
  const auto path = directory.write("text", longest + "\nshort\n");
  LineReader reader(path);
  std::string line;
  REQUIRE(reader.next(line));
  CHECK(reader.cut());
  CHECK(line.size() == LineReader::max_bytes);
  REQUIRE(reader.next(line));
  CHECK_FALSE(reader.cut());
  CHECK(line == "short");
  CHECK_FALSE(reader.next(line));
  CHECK((read_lines(path) == Lines{longest, "short"}));
  CHECK_THROWS_WITH(read_lines(directory.write("f", "1\n2\n"), ByteOrderMark::drop, 3),
                    contains("f: larger than the 3 bytes"));
}

TEST_CASE("texts that cannot be read, compressed text and UTF-16 are errors") {
  const TemporaryDirectory folder;
  CHECK_THROWS_WITH(LineReader(folder / "none"), contains("none': No such file"));
  CHECK_THROWS_WITH(read_lines(folder / "none"), contains("No such file or directory"));
  CHECK_THROWS_WITH(read_lines(folder.path()), contains("Is a directory"));
  const Lines compressed = {"BZh91AY&SY", "\x1F\x8B\x08", "\x28\xB5\x2F\xFD", "\xFD\x37zXZ"};
  for (const std::string& start : compressed) {
    CHECK_THROWS_WITH(read_lines(folder.write("f", start + "a\nb\n")),
                      contains("f: compressed (gzip, bzip2, zstd or xz)"));
    CHECK(read_lines(folder.write("f", "a\n" + start + "b\n")).size() == 2);
  }
  CHECK(read_lines(folder.write("f", "BZhou lives here .\n")).size() == 1);
  for (const std::string& start : {std::string("\xFF\xFE"), std::string("a\0b\0", 4)}) {
    CHECK_THROWS_WITH(read_lines(folder.write("f", start + "\n"), ByteOrderMark::keep),
                      contains("f:1: UTF-16; convert"));
  }
}

}  // namespace attn
