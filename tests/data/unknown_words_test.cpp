// Unknown words by shape and ending, and vocabularies that use them.
#include "data/unknown_words.h"

#include "data/word_vocabulary.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using namespace attn::testing;
using Names = std::vector<std::string>;

TEST_CASE("a word's classes go from the particular to the general") {
  CHECK(unknown_word_classes("walking") ==
        Names{"<unk:lower-ing>", "<unk:lower-ng>", "<unk:lower>"});
  CHECK(unknown_word_classes("Walking").front() == "<unk:Cap-ing>");
  CHECK(unknown_word_classes("cat") == Names{"<unk:lower>"});
  CHECK(unknown_word_classes("1,000.5") == Names{"<unk:number>"});
  CHECK(unknown_word_classes("NATO") == Names{"<unk:CAPS>"});
  CHECK(unknown_word_classes("p53") == Names{"<unk:lower+digit>"});
  CHECK(unknown_word_classes("IL-2") == Names{"<unk:CAPS+dash+digit>"});
  CHECK(unknown_word_classes("half-baked").front() == "<unk:lower+dash-ked>");
  CHECK(unknown_word_classes("McCoy").back() == "<unk:mixed>");
  CHECK(unknown_word_classes("\xCE\xB1") == Names{"<unk:other>"});
  CHECK(unknown_word_classes("--") == Names{"<unk:other+dash>"});
  CHECK(unknown_word_classes("") == Names{"<unk:other>"});
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
