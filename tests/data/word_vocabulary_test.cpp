#include "data/word_vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "data/tokenizer.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using namespace attn::testing;

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
  CHECK_THROWS_WITH(parse_tokenizer("a\nb\na\n", "list"), contains("list:3: "));
  CHECK_THROWS_WITH(parse_tokenizer("a\n\nb\n", "list"), contains("list:2: "));
  CHECK_THROWS_WITH(
      parse_tokenizer("a\ttwo\n", "list"),
      contains("'two' is not a count; expected a list of words") && contains(".model, not .vocab"));
  CHECK_THROWS_WITH(parse_tokenizer("a b\n", "list"),
                    contains("list:1: ") && contains("expected a list of words"));
  for (const char* space : {"\r", "\v", "\f"}) {  // the first: line ends of old Macs
    CHECK_THROWS_WITH(parse_tokenizer(std::string("a") + space + "b\n", "list"),
                      contains("list:1: white space in a word"));
  }
  CHECK_THROWS_WITH(parse_tokenizer("a\n\xff\n", "list"), contains("list:2: "));
  CHECK_THROWS_AS(parse_tokenizer("<unk>\n<s>\n</s>\n", "list"), DataError);
}

TEST_CASE("a learnt word vocabulary can be read again, whatever blanks the text has") {
  const TemporaryDirectory directory;
  write_text(directory / "t", "foo\r bar\r\r\n foo\vbaz\fbar\n");
  const std::vector<std::filesystem::path> texts = {directory / "t"};
  const auto words = parse_word_vocabulary(learn_word_vocabulary(texts, 100, 1), "words");
  CHECK(words->size() == 6);  // three special tokens, foo, bar and baz
  CHECK(parse_word_vocabulary(words->serialized(), "again")->encode("baz foo") ==
        words->encode("baz foo"));
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

TEST_CASE("no script is preferred among words of equal frequency") {
  const TemporaryDirectory directory;
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += "a" + std::to_string(i) + " 漢" + std::to_string(i) + "\n";
  }
  write_text(directory / "text", lines);
  // Also if words are forgotten while the text is read.
  for (const size_t max_words : {1000, 100}) {
    const auto words = count_words(std::vector{directory / "text"}, max_words);
    const auto latin =
        std::ranges::count_if(words, [](const auto& word) { return word.first.starts_with("a"); });
    CHECK(latin > static_cast<int64_t>(max_words) * 3 / 10);
    CHECK(latin < static_cast<int64_t>(max_words) * 7 / 10);
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
