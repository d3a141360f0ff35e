#include "app/commands/output_file.h"

#include <cerrno>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("an output that cannot be written names the system's error, also in large pieces") {
  const TemporaryDirectory folder;
  const auto size = static_cast<size_t>(GENERATE(10'000, 1'000'000));
  const std::string reason = "': File too large";
  const FileSizeLimit full(4096);
  SECTION("at once") {
    OutputFile output(folder / "out");
    CHECK_THROWS_WITH(output.write_all(std::string(size, 'a')),
                      contains("cannot write '" + (folder / "out.partial").string() + reason));
  }
  SECTION("line by line, long before the end") {
    OutputFile output(folder / "out");
    for (size_t i = 0; i < size / 10; ++i) output.stream() << "123456789\n";
    errno = 0;
    CHECK_THROWS_WITH(output.flush(), contains("out.partial" + reason));
  }
}

TEST_CASE("an output has its name when it is complete") {
  const TemporaryDirectory folder;
  OutputFile output(folder / "out");
  output.stream() << "one\n";
  output.flush();
  CHECK(read_file(folder / "out.partial") == "one\n");
  output.write_all("two\n");
  CHECK(read_file(folder / "out") == "one\ntwo\n");
}
