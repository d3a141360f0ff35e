// Treebanks as parallel text: reading, dropped trees, silver trees and places of lines.
#include "data/parsing/treebank.h"
#include "data/lines.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "data/parsing/tag_dictionary.h"
#include "data/tokenizer.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using namespace attn::testing;

namespace {

DataConfig parsing(const std::string& train) {
  DataConfig data;
  data.task = Task::parsing;
  data.train = train;
  data.shared_vocabulary = false;
  data.tokenizer = TokenizerKind::words;
  return data;
}

std::vector<std::string> lines_of(const DataConfig& text, const char* suffix) {
  return read_lines(text_path(text.train, suffix));
}

std::string many(const std::string& word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "(TOP (S (NN " + word + std::to_string(i) + ")))\n";
  }
  return text;
}

}  // namespace

TEST_CASE("trees become lines of words and of symbols") {
  TemporaryDirectory folder;
  const DataConfig data = parsing(
      folder.write("train.ptb",
                   "( (S (NP-SBJ-1 (PRP I))\n   (VP (VBP go) (NP (-NONE- *-1)))) )\n\n(TOP ())\n"
                   "(TOP (NP (NP x) (X) (NN y))) (FRAG (UH oh))\n"));
  std::vector<std::string> said;
  const DataConfig text = with_training_text(
      data, folder / "cache", 1, [&](const std::string& line) { said.push_back(line); });
  CHECK(lines_of(text, text.source.c_str()) == std::vector<std::string>{"I go", "x y", "oh"});
  CHECK(lines_of(text, text.target.c_str()) ==
        std::vector<std::string>{"S NP PRP /NP VP VBP /VP /S", "NP =NP NN /NP", "FRAG UH /FRAG"});
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), contains("3 trees") && contains("1 without words"));
  const Tokenizers tokenizers = make_tokenizers(text);
  CHECK(vocabulary_labels(*tokenizers.target, TreeForm::tags) == LabelSet{"FRAG", "NP", "S", "VP"});
  CHECK(tokenizers.target->encode("S =NP /FRAG").front() != tokenizers.target->unk());
  std::set<std::string> leaves;
  for (const int32_t token : leaf_tokens(*tokenizers.target, TreeForm::tags)) {
    leaves.insert(tokenizers.target->piece(token));
  }
  CHECK(leaves == std::set<std::string>{"=NP", "NN", "PRP", "UH", "VBP"});
}

TEST_CASE("validation texts are checked without reading whole treebanks") {
  const TemporaryDirectory folder;
  const std::string trees = folder.write("valid.ptb", "\n(TOP (NN a))\n(TOP (NN ))\n");
  CHECK_NOTHROW(check_validation_text(parsing(trees), trees));
  CHECK_THROWS_WITH(check_treebank(trees, tree_options(parsing(trees))),
                    contains(trees + ":3:6: the tag 'NN' has no word"));
  folder.write("valid.ptb", "A plain text.\n");
  CHECK_THROWS_WITH(check_validation_text(parsing(trees), trees), contains(trees + ":1:1: 'A'"));
  DataConfig pairs{.source = "en", .target = "de"};
  folder.write("v.en", "a\nb\nc\n");
  folder.write("v.de", "a\nb\n");
  const std::string valid = (folder / "v").string();
  CHECK_THROWS_WITH(check_validation_text(pairs, valid),
                    contains("v.en' has 3 lines") && contains("v.de' has 2"));
  folder.write("v.de", "a\nb\nc");
  CHECK_NOTHROW(check_validation_text(pairs, valid));
}

TEST_CASE("the same trees are found again, other trees or another form are not") {
  TemporaryDirectory folder;
  DataConfig data = parsing(folder.write("train.ptb", many("a", 3)));
  const std::string first = with_training_text(data, folder / "cache", 1).train;
  CHECK(with_training_text(data, folder / "cache", 1).train == first);
  data.tree_form = TreeForm::xx;
  const DataConfig xx = with_training_text(data, folder / "cache", 1);
  CHECK(xx.train != first);
  CHECK(lines_of(xx, kSymbolsSuffix).front() == "(S XX )S");
  folder.write("train.ptb", many("b", 3));
  CHECK(with_training_text(data, folder / "cache", 1).train != xx.train);
}

TEST_CASE("silver and gold come in the configured ratio, each tree at least once") {
  TemporaryDirectory folder;
  DataConfig data = parsing(folder.write("gold.ptb", many("g", 40)));
  data.silver = {folder.write("silver.ptb", many("s", 300))};
  const auto counts = [&](double ratio, uint64_t seed) {
    data.silver_ratio = ratio;
    const auto words = lines_of(with_training_text(data, folder / "cache", seed), kWordsSuffix);
    for (const auto& [kind, number] : {std::pair{"g", 40}, std::pair{"s", 300}}) {
      for (int i = 0; i < number; ++i) {
        CHECK(std::ranges::count(words, kind + std::to_string(i)) >= 1);
      }
    }
    const auto gold = std::ranges::count_if(words, [](auto& w) { return w.starts_with("g"); });
    return std::pair<int64_t, int64_t>(gold, static_cast<int64_t>(words.size()) - gold);
  };
  CHECK(counts(0.0, 1) == std::pair<int64_t, int64_t>(40, 300));
  const auto [gold, silver] = counts(3.0, 1);  // gold 2.5 times
  CHECK(silver == 300);
  CHECK(std::abs(gold - 100) <= 10);
  const auto [few, repeated] = counts(10.0, 1);  // silver 1.33 times
  CHECK(few == 40);
  CHECK(std::abs(repeated - 400) <= 30);
  const auto made = [&](uint64_t seed) { return with_training_text(data, folder / "cache", seed); };
  write_text(text_path(made(1).train, kWordsSuffix), "cut\n");
  CHECK(counts(10.0, 1) == std::pair(few, repeated));  // what is cached is not trusted
  CHECK(made(1).train != made(2).train);
}

TEST_CASE("repeated trees count once in vocabularies and tag dictionaries") {
  TemporaryDirectory folder;
  DataConfig data =
      parsing(folder.write("gold.ptb", many("g", 10) + "(S (NN both) (VB twice) (VB twice))\n"));
  data.silver = {folder.write("silver.ptb", many("s", 300) + "(S (NN both))\n")};
  data.min_frequency = 2;
  for (const double ratio : {0.0, 3.0, 100.0}) {  // gold 9 times, silver 3.7 times
    CAPTURE(ratio);
    data.silver_ratio = ratio;
    const DataConfig once = with_vocabulary_text(data, folder / "cache");
    CHECK(lines_of(once, kWordsSuffix).size() == 312);
    const Tokenizers made = make_tokenizers(once);
    CHECK(made.source->serialized() == "<unk>\n<s>\n</s>\nboth\t2\ntwice\t2\n");
    const TagDictionary tags =
        learn_tags(text_path(once.train, kWordsSuffix), text_path(once.train, kSymbolsSuffix),
                   once.tree_form, vocabulary_labels(*made.target, once.tree_form));
    CHECK(tags.symbols("g0", 1) == std::vector<std::string>{"NN"});
    CHECK(tags.symbols("g0", 2).empty());
    CHECK(tags.symbols("s0", 2).empty());
    CHECK(tags.symbols("both", 2) == std::vector<std::string>{"NN"});
    // All symbols of the training text are known, and without repetition the two are one text.
    const DataConfig text = with_training_text(data, folder / "cache", 1);
    for (const std::string& line : lines_of(text, kSymbolsSuffix)) {
      for (const int32_t token : made.target->encode(line)) CHECK(token != made.target->unk());
    }
    CHECK((text.train == once.train) == (ratio == 0.0));
  }
}

TEST_CASE("broken files of trees are rejected with their place, for training and validation") {
  const TemporaryDirectory folder;
  const std::string good = "(S (NN a))\n";
  const auto train = [&](const std::string& text) {
    with_training_text(parsing(folder.write("trees", text)), folder / "cache", 1);
  };
  const auto validate = [&](const std::string& text) {
    const std::string path = folder.write("trees", text);
    tree_text(path, parsing(path), {"S"}, folder / "cache");
  };
  CHECK_NOTHROW(validate(good));
  CHECK_THROWS_WITH(train(good + "(S (NN b)\n"), contains("trees:2:1"));
  CHECK_THROWS_WITH(train("\n()\n"), contains("trees") && contains("no tree"));
  CHECK_THROWS_WITH(validate("()\n"), contains("trees: contains no tree"));
  CHECK_THROWS_WITH(validate(good + "(S (NN \xfc))\n"), contains("trees:2: not valid UTF-8"));
  for (const std::string& wide : {std::string("\xff\xfe(\0", 4), std::string("\xfe\xff\0(", 4),
                                  std::string("(\0S\0", 4), std::string("\0(\0S", 4)}) {
    CHECK_THROWS_WITH(validate(wide), contains("trees:1: UTF-16; convert"));
  }
  CHECK_THROWS_WITH(tree_text(folder.path(), parsing("x"), {"S"}, folder / "cache"),
                    contains("a directory; give a file"));
  CHECK_THROWS_AS(with_training_text(parsing((folder / "nowhere").string()), folder / "c", 1),
                  DataError);
}

TEST_CASE("a tree of the greatest depth is read again under its root") {
  const auto read = [](const std::string& text) { return parse_trees(text, "text").front(); };
  std::string text = "(NN a)";
  for (int64_t depth = 1; depth < kMaxTreeDepth; ++depth) text = "(X " + text + ")";
  const Tree rooted = with_root(read(text));
  CHECK(rooted.label == "TOP");
  CHECK(read(write_tree(rooted)) == rooted);
  CHECK(read(format_tree(rooted)) == rooted);
  for (const std::string root : {"", " ", "ROOT ", "S1 "}) {
    CHECK(write_tree(as_parsed(read("(" + root + text + ")"))) == write_tree(rooted));
  }
  CHECK_THROWS_WITH(read("(TOP (X " + text + "))"), contains("nested deeper"));
}

TEST_CASE("gold under any outer bracket becomes the tree that a parser writes") {
  const auto parsed = [](const std::string& text) {
    return write_tree(as_parsed(parse_trees(text, "text").front()));
  };
  const std::string inner = "(S (NP (PRP We)) (VP (VBP go)))";
  CHECK(parsed(inner) == "(TOP " + inner + ")");
  for (const std::string root : {"", "TOP", "ROOT", "S1", "VROOT"}) {
    CAPTURE(root);
    CHECK(parsed("(" + root + " " + inner + ")") == "(TOP " + inner + ")");
    CHECK(parsed("((" + root + " " + inner + "))") == "(TOP " + inner + ")");
    CHECK(parsed("(" + root + " " + inner + " (NP))") == "(TOP " + inner + ")");
    CHECK(parsed("(" + root + " " + inner + " (S (UH oh)))") == "(TOP " + inner + " (S (UH oh)))");
    CHECK(write_tree(bare_tree(parse_trees("(" + root + " (S (NN a)) (S (NN b)))", "t").front())) ==
          "(TOP (S (NN a)) (S (NN b)))");
  }
  CHECK(write_tree(bare_tree(parse_trees("(ROOT (S (NN a) (NP)))", "t").front())) == "(S (NN a))");
  CHECK(parsed("(TOP (NN a))") == "(TOP (NN a))");
  CHECK(parsed("(NN a)") == "(TOP (NN a))");
  CHECK(parsed("()") == "()");
}
