// Tokenizers read from their files, which may come from anywhere.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"
#include "data/word_vocabulary.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"
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

TEST_CASE("a word list is read with and without counts and special tokens") {
  const auto plain = parse_tokenizer("a\nb\n", "list");
  CHECK(plain->size() == 5);
  CHECK(plain->piece(plain->unk()) == "<unk>");
  CHECK(plain->encode("b a  c\tb") == std::vector<int32_t>{4, 3, plain->unk(), 4});
  const auto counted = parse_tokenizer("a\t17\r\n</s>\nb\t3", "list");
  CHECK(counted->size() == 5);
  CHECK(counted->piece(counted->eos()) == "</s>");
  CHECK(counted->decode(counted->encode("a b x")) == "a b <unk>");
  CHECK(parse_tokenizer(counted->serialized(), "again")->encode("a b") == counted->encode("a b"));
  CHECK(parse_tokenizer("\xEF\xBB\xBF"
                        "a\nb\n",
                        "list")
            ->serialized() == plain->serialized());
}

TEST_CASE("a broken word list is rejected with file and line") {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"a\nb\na\n", "list:3: "},
      {"a\n\nb\n", "list:2: "},
      {"a\ttwo\n", "'two' is not a count; expected a list of words"},
      {"a\ttwo\n", ".model, not .vocab"},
      {"a b\n", "list:1: "},
      {"a b\n", "expected a list of words"},
      {"a\rb\n", "list:1: white space in a word"},  // line ends of old Macs
      {"a\vb\n", "list:1: white space in a word"},
      {"a\fb\n", "list:1: white space in a word"},
      {"a\n\xff\n", "list:2: "}};
  for (const auto& [list, message] : broken) {
    CHECK_THROWS_WITH(parse_tokenizer(list, "list"), contains(message));
  }
  CHECK_THROWS_AS(parse_tokenizer("<unk>\n<s>\n</s>\n", "list"), DataError);
}

TEST_CASE("words of texts with very many different ones are counted, the rarest forgotten") {
  const TemporaryDirectory directory;
  const std::filesystem::path text = directory / "text";
  // 12 words of count 2 or 3 come first, then very many of count 1.
  std::string lines;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int word = 0; word < 12; ++word) {
      if (repeat < 2 || word < 4) lines += "often w" + std::to_string(10 + word) + "\n";
    }
  }
  for (int word = 0; word < 100; ++word) lines += "rare" + std::to_string(word) + "\n";
  write_text(text, lines);
  for (const size_t max_words : {4, 6}) {
    const auto words = count_words(std::vector{text}, max_words);
    REQUIRE(words.size() == max_words);
    CHECK(words.front() == std::pair<std::string, int64_t>{"often", 28});
    for (size_t i = 1; i < words.size(); ++i) CHECK(words[i].second == (i <= 4 ? 3 : 2));
  }
}

TEST_CASE("a word's classes go from the particular to the general") {
  CHECK(unknown_word_classes("walking") ==
        std::vector<std::string>{"<unk:lower-ing>", "<unk:lower-ng>", "<unk:lower>"});
  CHECK(unknown_word_classes("Walking").front() == "<unk:Cap-ing>");
  CHECK(unknown_word_classes("cat") == std::vector<std::string>{"<unk:lower>"});
  CHECK(unknown_word_classes("1,000.5") == std::vector<std::string>{"<unk:number>"});
  CHECK(unknown_word_classes("NATO") == std::vector<std::string>{"<unk:CAPS>"});
  CHECK(unknown_word_classes("p53") == std::vector<std::string>{"<unk:lower+digit>"});
  CHECK(unknown_word_classes("IL-2") == std::vector<std::string>{"<unk:CAPS+dash+digit>"});
  CHECK(unknown_word_classes("half-baked").front() == "<unk:lower+dash-ked>");
  CHECK(unknown_word_classes("McCoy").back() == "<unk:mixed>");
  CHECK(unknown_word_classes("\xCE\xB1") == std::vector<std::string>{"<unk:other>"});
  CHECK(unknown_word_classes("--") == std::vector<std::string>{"<unk:other+dash>"});
  CHECK(unknown_word_classes("") == std::vector<std::string>{"<unk:other>"});
}

TEST_CASE("a vocabulary with classes puts unknown words into the closest one it has") {
  TemporaryDirectory folder;
  std::string text = "the the the dog dog dog\n";
  for (int i = 0; i < 12; ++i) text += std::string(1, static_cast<char>('a' + i)) + "walking\n";
  for (int i = 0; i < 12; ++i) text += std::to_string(100 + i) + "\n";
  write_text(folder / "text", text);
  const std::vector<std::filesystem::path> texts = {folder / "text"};
  const std::string list = learn_word_vocabulary(texts, 100, 2, true);
  const auto vocabulary = parse_word_vocabulary(list, "list");
  const auto piece = [&](const std::string& word) {
    const auto tokens = vocabulary->encode(word);
    REQUIRE(tokens.size() == 1);
    return vocabulary->piece(tokens.front());
  };
  CHECK(piece("dog") == "dog");
  CHECK(piece("singing") == "<unk:lower-ing>");
  CHECK(piece("king") == "<unk:lower>");
  CHECK(piece("4711") == "<unk:number>");
  CHECK(piece("Zoe") == "<unk>");                 // no class of capitals was learnt
  CHECK(piece("<unk:number>") == "<unk:lower>");  // text does not yield what it spells
  CHECK(parse_word_vocabulary(vocabulary->serialized(), "again")->encode("singing") ==
        vocabulary->encode("singing"));
  CHECK(parse_word_vocabulary(learn_word_vocabulary(texts, 100, 2), "plain")->size() == 5);
}
