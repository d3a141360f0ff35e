// Tokenizers read from their files, which may come from anywhere.
#include "base/error.h"
#include "base/random.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"
#include "tests/support/catch.h"
#include "tests/support/tokenizer_text.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("truncated and foreign models are rejected with their name") {
  for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram}) {
    TokenizerText text(kind);
    text.config.normalization = Normalization::nfkc;  // brings a table
    const std::string model = make_tokenizers(text.config).source->serialized();
    for (size_t size = 1; size < model.size(); size += 1 + model.size() / 97) {
      CAPTURE(size);
      CHECK_THROWS_AS(parse_tokenizer(model.substr(0, size), "given.model"), DataError);
    }
    CHECK_THROWS_WITH(parse_tokenizer(model.substr(0, 100), "given.model"),
                      contains("given.model: "));
  }
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    std::string noise(1 + random.below(500), '\0');
    for (char& byte : noise) byte = static_cast<char>(random.next());
    if (i % 2 == 0) noise[0] = '\n';
    CHECK_THROWS_AS(parse_tokenizer(noise, "noise"), DataError);
  }
  CHECK_THROWS_AS(parse_tokenizer("", "empty"), DataError);
}

TEST_CASE("changed bytes in a model are rejected or harmless") {
  TokenizerText text(TokenizerKind::unigram);
  text.config.normalization = Normalization::nmt_nfkc;
  const std::string model = make_tokenizers(text.config).source->serialized();
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    std::string changed = model;
    for (int k = 0; k < 5; ++k)
      changed[random.below(model.size())] = static_cast<char>(random.next());
    try {
      const auto tokenizer = parse_tokenizer(changed, "changed");
      for (const int32_t token : tokenizer->encode("lak ﬁ ｗ ½ é morß")) {
        CHECK(token < tokenizer->size());
      }
    } catch (const DataError&) {
      SUCCEED();
    }
  }
}

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

TEST_CASE("text with a zero byte yields a vocabulary of every kind") {
  const std::string zero(1, '\0');
  for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::words}) {
    CAPTURE(enum_name(kind));
    TokenizerText text(kind);
    auto lines = made_up_lines(400, 1);
    lines[3] += " od" + zero + "d od" + zero + "d " + zero;
    write_text(text.config.train + ".xx", join_lines(lines));
    const auto made = make_tokenizers(text.config);
    const auto again = parse_tokenizer(made.source->serialized(), "again");
    CHECK(again->size() == made.source->size());
    for (const auto& line : lines) CHECK(again->encode(line) == made.source->encode(line));
    CHECK(made.source->decode(made.source->encode(lines[4])) == lines[4]);
  }
  const auto list = parse_tokenizer("a\nb" + zero + "\n", "list");
  CHECK(list->encode("b" + zero + " b") == std::vector<int32_t>{4, list->unk()});
}
