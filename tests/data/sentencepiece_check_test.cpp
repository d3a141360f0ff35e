#include "data/sentencepiece_check.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("a normalization table may not leave its bounds, for a null character either") {
  constexpr size_t kUnits = 256;
  constexpr uint32_t kFar = 0x1fffff, kBase = 1;
  const auto field = [](char number, const std::string& content) {
    std::string out(1, static_cast<char>(number << 3 | 2));
    for (size_t size = content.size();; size >>= 7) {
      out += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
      if (size <= 0x7f) break;
    }
    return out + content;
  };
  // A trie whose root has a child for `letter`, with an offset far outside if it is `far`.
  const auto model = [&](uint32_t letter, bool far) {
    std::vector<uint32_t> words(1 + kUnits, 0);
    words[0] = 4 * kUnits;
    words[1] = kBase << 10;
    words[1 + (kBase ^ letter)] = (far ? kFar << 10 : 0) | letter;
    const std::string table(reinterpret_cast<const char*>(words.data()), 4 * words.size());
    return field(1, "x") + field(2, "x") + field(3, field(2, table + std::string(1, '\0')));
  };
  for (const uint32_t letter : {0U, 7U, 255U}) {
    CAPTURE(letter);
    CHECK_NOTHROW(check_sentencepiece_bytes(model(letter, false), "m"));
    CHECK_THROWS_WITH(check_sentencepiece_bytes(model(letter, true), "m"),
                      contains("normalization table"));
  }
}
