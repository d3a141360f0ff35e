#include "app/commands/input_chunks.h"

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;

TEST_CASE("lines of a file are estimated from its size, and counted once all is read") {
  const testing::TemporaryDirectory directory;
  const std::string first(9, 'a'), others(19, 'b');
  const auto file = directory / "text";
  testing::write_text(file, first + "\n" + others + "\n" + others + "\n");

  InputProgress read(file);
  CHECK(read.all_lines().count == 0);
  read.add(static_cast<int64_t>(first.size()));
  CHECK(read.all_lines().count == 5);
  CHECK(read.all_lines().estimated);
  read.add(static_cast<int64_t>(others.size()));
  read.add(static_cast<int64_t>(others.size()));
  CHECK(read.all_lines().count == 3);
  CHECK(!read.all_lines().estimated);
}
