#include "data/parsing/tag_dictionary.h"

#include "base/error.h"
#include "data/lines.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;
using Lines = std::vector<std::string>;

namespace {

TagDictionary some() {
  TagDictionary dictionary;
  dictionary.add(Lines{"the", "run", "run", ":"}, Lines{"DT", "NN", "VB", ":"});
  dictionary.add(Lines{"the", "run", "once"}, Lines{"DT", "NN", "RB"});
  return dictionary;
}

}  // namespace

TEST_CASE("a word has the tags that it was seen with, if it was seen often enough") {
  const TagDictionary dictionary = some();
  CHECK(dictionary.symbols("run", 1) == Lines{"NN", "VB"});
  CHECK(dictionary.symbols("run", 3) == Lines{"NN", "VB"});
  CHECK(dictionary.symbols("run", 4).empty());
  CHECK(dictionary.symbols("never", 1).empty());
}

TEST_CASE("rare tags of a word, which are annotation errors, are excluded") {
  TagDictionary dictionary;
  for (int i = 0; i < 100; ++i) dictionary.add(Lines{","}, Lines{i == 7 ? "NN" : ","});
  for (int i = 0; i < 100; ++i) dictionary.add(Lines{"run"}, Lines{i % 25 == 7 ? "NN" : "VB"});
  CHECK(dictionary.symbols(",", 1) == Lines{","});
  CHECK(dictionary.symbols("run", 1) == Lines{"NN", "VB"});
}

TEST_CASE("a written dictionary is read back") {
  const std::string text = some().serialized();
  CHECK(text == ":\t::1\nonce\tRB:1\nrun\tNN:2 VB:1\nthe\tDT:2\n");
  const TagDictionary again = parse_tag_dictionary(text, "t");
  CHECK(again.serialized() == text);
  CHECK(again.symbols("run", 3) == Lines{"NN", "VB"});
  CHECK(again.symbols("once", 1) == Lines{"RB"});
  // Tags may hold what separates them from their counts.
  CHECK(parse_tag_dictionary("--\t:::4\n", "t").symbols("--", 1) == Lines{"::"});
}

TEST_CASE("a broken dictionary is rejected with its line") {
  for (const char* bad : {"run", "run\t", "run\tNN", "run\tNN:0", "run\tNN:x", "\tNN:1", "run\t:3",
                          "run\tNN:9223372036854775807"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_tag_dictionary(std::string("the\tDT:2\n") + bad + "\n", "t"),
                      contains("t:2"));
  }
}

TEST_CASE("tags are learnt from words and symbols line by line") {
  const testing::TemporaryDirectory folder;
  folder.write("w", "a dog\na dog\n");
  folder.write("s", "NP DT NN /NP\nNP DT =NP /NP\n");
  const LabelSet labels = {"NP"};
  const TagDictionary learnt = learn_tags(folder / "w", folder / "s", TreeForm::tags, labels);
  CHECK(learnt.symbols("dog", 2) == Lines{"=NP", "NN"});
  folder.write("s", "NP DT NN /NP\nNP DT /NP\n");
  CHECK_THROWS_WITH(learn_tags(folder / "w", folder / "s", TreeForm::tags, labels),
                    contains("1 leaves for 2 words"));
}

TEST_CASE("trees too long for a line teach no tags") {
  const testing::TemporaryDirectory folder;
  std::string words, symbols = "NP";
  for (int i = 0; i < 220'000; ++i) words += "word ", symbols += " NN";
  folder.write("w", words + "\na dog\n");
  folder.write("s", symbols + " /NP\nNP DT NN /NP\n");
  REQUIRE(symbols.size() < LineReader::max_bytes);
  const TagDictionary learnt = learn_tags(folder / "w", folder / "s", TreeForm::tags, {"NP"});
  CHECK(learnt.symbols("dog", 1) == Lines{"NN"});
  CHECK(learnt.symbols("word", 1).empty());
}
