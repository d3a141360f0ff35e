// The values are those published for XXH64: the specification's check text, the sanity buffer of
// the reference implementation (bytes of a multiplicative generator) and examples of bindings.
#include "base/hash.h"

#include <string>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

namespace {

constexpr uint64_t prime32 = 2654435761u;

std::string sanity_buffer(size_t size) {
  std::string bytes;
  for (uint32_t generator = static_cast<uint32_t>(prime32); bytes.size() < size;) {
    bytes += static_cast<char>(generator >> 24);
    generator *= generator;
  }
  return bytes;
}

}  // namespace

TEST_CASE("the hash of published texts and of the sanity buffer is the published one") {
  CHECK(hash_text("") == 0xEF46DB3751D8E999u);
  CHECK(hash_text("", prime32) == 0xAC75FDA2929B17EFu);
  CHECK(hash_text("a") == 0xD24EC4F1A98C6E5Bu);
  CHECK(hash_text("abc") == 0x44BC2CF5AD770999u);
  CHECK(hash_text("Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1u);
  CHECK(hash_text(sanity_buffer(1)) == 0x4FCE394CC88952D8u);
  CHECK(hash_text(sanity_buffer(1), prime32) == 0x739840CB819FA723u);
  CHECK(hash_text(sanity_buffer(14)) == 0xCFFA8DB881BC3A3Du);
  CHECK(hash_text(sanity_buffer(14), prime32) == 0x5B9611585EFCC9CBu);
  CHECK(hash_text(sanity_buffer(101)) == 0x0EAB543384F878ADu);
  CHECK(hash_text(sanity_buffer(101), prime32) == 0xCAA65939306F1E21u);
}

TEST_CASE("cuts in the input don't change the hash") {
  const std::string bytes = sanity_buffer(300);
  const uint64_t whole = hash_text(bytes);
  for (const size_t piece : {1, 3, 7, 31, 32, 33, 64, 299}) {
    Hasher hasher;
    for (size_t at = 0; at < bytes.size(); at += piece) hasher.update(bytes.substr(at, piece));
    CHECK(hasher.digest() == whole);
  }
}

TEST_CASE("a file hashes like its content, also beyond one buffer") {
  const testing::TemporaryDirectory folder;
  std::string bytes((size_t{1} << 20) + 12345, 'x');
  for (size_t i = 0; i < bytes.size(); i += 1000) bytes[i] = static_cast<char>(i / 1000);
  CHECK(hash_file(folder.write("f", bytes)) == hash_text(bytes));
  CHECK_THROWS_AS(hash_file(folder / "none"), DataError);
  CHECK_THROWS_AS(hash_file(folder.path()), DataError);
}

TEST_CASE("an integer is hashed as eight bytes, lowest first") {
  Hasher as_integer;
  as_integer.update(uint64_t{0x0807060504030201});
  CHECK(as_integer.digest() == hash_text("\1\2\3\4\5\6\7\10"));
}
