// Linearization: both forms are inverted exactly for arbitrary labels and tags, and arbitrary model
// output is repaired to a tree over exactly the sentence's words.
#include "data/parsing/linearize.h"
#include "data/lines.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "base/unicode.h"
#include "data/parsing/tree.h"
#include "tests/support/catch.h"
#include "tests/support/shared_data.h"

using namespace attn;
using namespace attn::testing;
using Words = std::vector<std::string>;

namespace {

/// What random trees are made of.
struct TreeKinds {
  std::vector<std::string> labels = {"S", "NP", "VP", "PP"};
  std::vector<std::string> tags = {"DT", "NN", "VB", ","};
  bool empty_constituents = false;
};

const std::string& pick(const std::vector<std::string>& from, Random& random) {
  return from[random.below(from.size())];
}

/// A constituent over one to some twenty words w0, w1 … of at most `depth` further levels.
Tree random_tree(Random& random, int64_t depth, const TreeKinds& kinds = {}) {
  const uint64_t children = 1 + random.below(3);
  std::vector<Tree> below;
  for (uint64_t i = 0; i < children; ++i) {
    if (depth > 0 && random.below(2) == 0) {
      below.push_back(random_tree(random, depth - 1, kinds));
    } else {
      below.push_back(
          tree_leaf(pick(kinds.tags, random), "w" + std::to_string(random.below(1000))));
    }
  }
  if (kinds.empty_constituents && random.below(4) == 0) {
    below.push_back(tree_node(pick(kinds.labels, random), {}));
  }
  return tree_node(pick(kinds.labels, random), std::move(below));
}

Tree one_tree(const std::string& text) {
  const auto trees = parse_trees(text, "text");
  REQUIRE(trees.size() == 1);
  return trees.front();
}

Words split(const std::string& text) {
  const auto words = split_whitespace(text);
  return {words.begin(), words.end()};
}

Tree without_tags(Tree tree) {
  if (tree.is_leaf()) tree.label = kNoTag;
  for (Tree& child : tree.children) child = without_tags(std::move(child));
  return tree;
}

// In order, an empty constituent has no first child.
bool has_empty(const Tree& tree) {
  return drop_empty(tree) != tree;
}

/// Whether all forms give the tree back, `labels` being those of the corpus.
bool comes_back(const Tree& tree, const LabelSet& labels) {
  const Words words = tree_words(tree);
  return delinearize(linearize(tree, TreeForm::tags, labels), words, TreeForm::tags, labels) ==
             tree &&
         (has_empty(tree) || delinearize(linearize(tree, TreeForm::in_order, labels), words,
                                         TreeForm::in_order, labels) == tree) &&
         delinearize(linearize(tree, TreeForm::xx, labels), words, TreeForm::xx, labels) ==
             without_tags(tree);
}

std::string rebuilt(const std::string& symbols, const std::string& words,
                    TreeForm form = TreeForm::tags, const LabelSet& labels = {"S", "NP", "VP"}) {
  const RebuiltTree result = rebuild_tree(split(symbols), split(words), form, labels);
  CHECK(result.repaired);
  return write_tree(result.tree);
}

const std::string kDog = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))";

}  // namespace

TEST_CASE("the two forms are written as the literature has them") {
  CHECK(joined(linearize(one_tree(kDog), TreeForm::tags)) == "S NP DT NN /NP VP VBZ /VP /S");
  CHECK(joined(linearize(one_tree(kDog), TreeForm::in_order)) == "DT NP NN /NP S VBZ VP /VP /S");
  CHECK(joined(linearize(one_tree(kDog), TreeForm::xx)) == "(S (NP XX XX )NP (VP XX )VP )S");
}

TEST_CASE("a symbol means the same in every tree of a corpus") {
  // NP is a constituent elsewhere: here it is a tag, and must not open anything.
  const Tree tree = one_tree("(S (NP Kim) (VB went))");
  const LabelSet labels = {"S", "NP"};
  CHECK(joined(linearize(tree, TreeForm::tags, labels)) == "S =NP VB /S");
  CHECK(read_symbol("NP", TreeForm::tags, labels) == TreeSymbol{TreeSymbol::Kind::open, "NP"});
  CHECK(read_symbol("=NP", TreeForm::tags, labels) == TreeSymbol{TreeSymbol::Kind::leaf, "NP"});
  CHECK_FALSE(read_symbol("<unk>", TreeForm::tags, labels));
  CHECK_FALSE(read_symbol("NP", TreeForm::xx, labels));
  CHECK_FALSE(read_symbol("", TreeForm::xx, labels));
}

TEST_CASE("random trees round-trip, empty constituents and clashing names among them") {
  const TreeKinds kinds{.labels = {"S", "NP", "/NP", "", "+", "=S", "<s>", "NP|X", "a/b", "="},
                        .tags = {"NP", "/NP", "NN", "", "XX", "<unk>", "S", "-LRB-", "/", "+"},
                        .empty_constituents = true};
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const Tree tree =
        i % 50 == 0 ? tree_leaf(pick(kinds.tags, random), "w") : random_tree(random, 5, kinds);
    CAPTURE(write_tree(tree));
    REQUIRE(comes_back(tree, {}));
    REQUIRE(comes_back(tree, {"S", "NP", "NN", "", "/S"}));
  }
}

TEST_CASE("the exact inverse rejects anything but one tree over the words") {
  const auto exact = [](const std::string& symbols, const std::string& words, TreeForm form) {
    return delinearize(split(symbols), split(words), form, {"S", "NP"}).has_value();
  };
  CHECK(exact("S NP DT /NP NN /S", "a b", TreeForm::tags));
  for (const char* words : {"a", "a b c"}) {
    CHECK_FALSE(exact("S NP DT /NP NN /S", words, TreeForm::tags));
  }
  for (const char* symbols : {"", "S NP DT /S NN /NP", "S NP DT NN /NP", "NP DT /NP NP DT /NP",
                              "/S S DT NN /S", "S DT <unk> NN /S", "DT NN"}) {
    CHECK_FALSE(exact(symbols, "a b", TreeForm::tags));
  }
  CHECK_FALSE(exact("", "", TreeForm::tags));
  CHECK(exact("DT NP NN /NP S VB /S", "a b c", TreeForm::in_order));
  CHECK(exact("NN NP /NP S /S", "a", TreeForm::in_order));
  CHECK(exact("NN", "a", TreeForm::in_order));
  for (const auto& [symbols, words] : std::vector<std::pair<std::string, std::string>>{
           {"NP NN /NP", "a"},       // nothing to begin with
           {"NN S NP /NP /S", "a"},  // NP takes the first child of S: it comes before S
           {"NN NN S /S", "a b"},    // two nodes without a constituent
           {"NN S /S NN", "a b"},
           {"NN S", "a"},
           {"NN S /NP", "a"},
           {"NN S /S", "a b"}}) {
    CHECK_FALSE(exact(symbols, words, TreeForm::in_order));
  }
}

TEST_CASE("a sequence is a tree up to the reader's maximum depth, including the leaf") {
  const TreeForm form = GENERATE(TreeForm::tags, TreeForm::in_order);
  const auto chain = [&](int64_t constituents) {
    Words symbols;
    if (form == TreeForm::tags) symbols.assign(static_cast<size_t>(constituents), "S");
    symbols.push_back("NN");
    for (int64_t i = 0; i < constituents; ++i) {
      if (form == TreeForm::in_order) symbols.push_back("S");
      symbols.push_back("/S");
    }
    return symbols;
  };
  const Words word = {"a"};
  const auto deepest = delinearize(chain(kMaxTreeDepth - 1), word, form, {"S"});
  REQUIRE(deepest);
  CHECK(one_tree(write_tree(*deepest)) == *deepest);
  for (const int64_t deeper : {kMaxTreeDepth, int64_t{100'000}}) {
    CHECK_FALSE(delinearize(chain(deeper), word, form, {"S"}));
    const RebuiltTree repaired = rebuild_tree(chain(deeper), word, form, {"S"});
    CHECK(repaired.repaired);
    CHECK(tree_words(repaired.tree) == word);
    CHECK(one_tree(write_tree(repaired.tree)) == repaired.tree);
  }
}

TEST_CASE("malformed output is repaired by the stated rule, and a good sequence is kept") {
  CHECK(rebuilt("S NP DT NN", "a b") == "(S (NP (DT a) (NN b)))");
  CHECK(rebuilt("S NP DT NN /S", "a b") == "(S (NP (DT a) (NN b)))");
  CHECK(rebuilt("S DT /NP NN /S", "a b") == "(S (DT a) (NN b))");
  CHECK(rebuilt("S NP DT /NP NN NN NN /S", "a b") == "(S (NP (DT a)) (NN b))");
  CHECK(rebuilt("S NP DT /NP /S", "a b c") == "(S (NP (DT a)) (XX b) (XX c))");
  CHECK(rebuilt("S NP DT", "a b c") == "(S (NP (DT a)) (XX b) (XX c))");
  CHECK(rebuilt("S NP /NP VP VB /VP /S", "a") == "(S (VP (VB a)))");
  CHECK(rebuilt("NP DT /NP VP VB /VP", "a b") == "(TOP (NP (DT a)) (VP (VB b)))");
  CHECK(rebuilt("S DT <unk> NN /S", "a b") == "(S (DT a) (NN b))");
  CHECK(rebuilt("", "a b") == "(TOP (XX a) (XX b))");
  CHECK(rebuilt("", "a") == "(XX a)");
  CHECK(rebuilt("S NP /NP /S", "a") == "(S (XX a))");
  CHECK(rebuilt("DT NN", "a b c") == "(TOP (DT a) (NN b) (XX c))");
  CHECK(rebuilt("(S (NP XX )S XX", "a b", TreeForm::xx) == "(TOP (S (NP (XX a))) (XX b))");
  CHECK(rebuilt("S /S", "") == "()");
  const RebuiltTree good =
      rebuild_tree(split("S NP DT NN /NP VP VBZ /VP /S"), split("the dog barks"), TreeForm::tags);
  CHECK_FALSE(good.repaired);
  CHECK(write_tree(good.tree) == kDog);
  CHECK(write_tree(rebuild_tree({}, {}, TreeForm::tags).tree) == "()");
  CHECK_FALSE(rebuild_tree({}, {}, TreeForm::tags).repaired);
}

TEST_CASE(
    "any sequence of symbols becomes a tree with exactly the words and no empty constituent") {
  const Words symbols = {"S", "NP", "/S", "/NP", "/X", "DT", "=NP", "<unk>", "+", "/", "(S", "XX"};
  Random random(11);
  for (int i = 0; i < 5000; ++i) {
    Words sequence, words;
    for (uint64_t n = random.below(30); n > 0; --n) sequence.push_back(pick(symbols, random));
    for (uint64_t n = 1 + random.below(8); n > 0; --n) words.push_back("w" + std::to_string(n));
    for (const TreeForm form : {TreeForm::tags, TreeForm::xx, TreeForm::in_order}) {
      const RebuiltTree result = rebuild_tree(sequence, words, form, {"S", "NP"});
      CAPTURE(joined(sequence), write_tree(result.tree));
      REQUIRE(tree_words(result.tree) == words);
      REQUIRE(drop_empty(result.tree) == result.tree);
      REQUIRE(result.repaired == !(delinearize(sequence, words, form, {"S", "NP"}) == result.tree));
    }
  }
}

TEST_CASE("punctuation without a tag is tagged by its word") {
  CHECK(write_tree(tag_punctuation(one_tree("(S (XX ,) (XX dog) (NN .) (XX -LRB-))"))) ==
        "(S (, ,) (XX dog) (NN .) (-LRB- -LRB-))");
}

TEST_CASE("every tree of the shared corpora is written as it was, and round-trips in all forms",
          "[slow]") {
  for (const std::filesystem::path name :
       {"craft/train.ptb", "craft/dev.ptb", "masc/letters.ptb", "masc/essays.ptb",
        "wsj-sample/train.ptb", "wsj-sample/dev.ptb", "wsj-sample/dev.raw.ptb",
        "gum/train.silver.ptb", "gum/dev.silver.ptb"}) {
    const auto folder = shared_data(name.parent_path().string());
    if (!folder) continue;
    const std::filesystem::path file = *folder / name.filename();
    const std::vector<Tree> trees = read_trees(file);
    const std::vector<std::string> lines = read_lines(file);
    REQUIRE(trees.size() == lines.size());
    LabelSet labels;
    for (const Tree& tree : trees) collect_labels(tree, labels);
    size_t different = 0;
    for (size_t i = 0; i < trees.size(); ++i) {
      different += write_tree(trees[i]) != lines[i] || !comes_back(trees[i], labels);
    }
    CAPTURE(name.string());
    CHECK(different == 0);
  }
}
