// Penn brackets: accepted layouts, errors with their positions, and round trips.
#include "data/parsing/tree.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/support/shared_data.h"

using namespace attn;
using attn::testing::contains;

namespace {

Tree read_one(std::string_view text, const TreeOptions& options = {}) {
  std::vector<Tree> trees = parse_trees(text, "text", options);
  REQUIRE(trees.size() == 1);
  return trees.front();
}

std::string reprint(std::string_view text, const TreeOptions& options = {}) {
  return write_tree(read_one(text, options));
}

}  // namespace

TEST_CASE("trees hold labels, words and children in order, on a line or over lines") {
  const Tree tree = read_one("(S (NP (PRP We)) (VP (VBP sleep)) (. .))");
  CHECK(tree.label == "S");
  REQUIRE(tree.children.size() == 3);
  CHECK(tree.children[0] == tree_node("NP", {tree_leaf("PRP", "We")}));
  CHECK(tree.children[2].is_leaf());
  CHECK(tree_words(tree) == std::vector<std::string>{"We", "sleep", "."});
  const auto trees = parse_trees("(A (B c)) (D (E f))\n\n(G\n (H i))", "text");
  REQUIRE(trees.size() == 3);
  CHECK(write_tree(trees[1]) == "(D (E f))");
  CHECK(write_tree(trees[2]) == "(G (H i))");
  CHECK(parse_trees(" \n\t\r\n", "text").empty());
}

TEST_CASE("the layout of brackets does not matter") {
  const std::string flat = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))";
  CHECK(reprint(flat) == flat);
  CHECK(reprint("(S\n  (NP (DT the)\n      (NN dog))\r\n\t(VP\n(VBZ\nbarks)))\n\n") == flat);
  CHECK(reprint("(S(NP(DT the)(NN dog))(VP(VBZ barks)))") == flat);
  CHECK(reprint("\xEF\xBB\xBF" + flat) == flat);
  CHECK(reprint("( S (NP (DT the) (NN dog) ) (VP (VBZ barks) ) ) ") == flat);
  CHECK(reprint("( S ( NP ( DT the ) ( NN dog ) ) ( VP ( VBZ barks ) ) )") == flat);
}

TEST_CASE("an outer bracket is kept as it is written and can be stripped") {
  for (const std::string root : {"( ", "(TOP ", "(ROOT ", "(S1 ", "(VROOT "}) {
    const Tree tree = read_one(root + "(S (NP (PRP I)) (VP (VBP go))))");
    CHECK(write_tree(tree) == root + "(S (NP (PRP I)) (VP (VBP go))))");
    CHECK(write_tree(strip_root(tree)) == "(S (NP (PRP I)) (VP (VBP go)))");
  }
  const std::string two = "(TOP (S (X a)) (S (X b)))";
  CHECK(write_tree(strip_root(read_one(two))) == two);
  CHECK(write_tree(strip_root(read_one("(NP (NN a))"))) == "(NP (NN a))");
}

TEST_CASE("empty constituents are read and written") {
  CHECK(reprint("()") == "()");
  CHECK(reprint("(())") == "( ())");
  CHECK(reprint("(NP)") == "(NP)");
  CHECK(reprint("(S (NP) (VP (VB go)))") == "(S (NP) (VP (VB go)))");
  CHECK(tree_words(read_one("(S (NP) (VP (VB go)))")) == std::vector<std::string>{"go"});
}

TEST_CASE("in a treebank a tag whose word is missing is an error, an empty constituent is none") {
  const TreeOptions options = {.drop_traces = true, .require_words = true};
  for (const std::string tree : {"(S (NP (NN )) (VP (VB b)))", "(S (NN\n) (VB b))",
                                 "( (S ( NN ) (VB b)) )", "(S ( NN) (VB b))", "(NN )"}) {
    CAPTURE(tree);
    CHECK_NOTHROW(parse_trees(tree, "text"));
    CHECK_THROWS_WITH(parse_trees(tree, "text", options), contains("the tag 'NN' has no word"));
  }
  CHECK_THROWS_WITH(parse_trees("(S (VB a))\n(S (NN ))", "text", options), contains("text:2:4: "));
  for (const std::string tree : {"( )", "()", "(S (NP) (VB b) )", "(S (NP (-NONE- *) ) (VB b) )",
                                 "( (S ( VB b ) ) )", "( word)"}) {
    CAPTURE(tree);
    CHECK_NOTHROW(parse_trees(tree, "text", options));
  }
}

TEST_CASE("odd tokens stay as they are") {
  for (const std::string tree : {"(-LRB- -LRB-)", "(PRP$ its)", "(`` ``)", "('' \")", "(: --)",
                                 "($ US$)", "(-NONE- *T*-1)", "(CD 1\\/2)",
                                 "(NN \xC3\xBC"
                                 "ber)",
                                 "(. ...)", "(# #)",
                                 "(NN a\xC2\xA0"
                                 "b)",
                                 "(SYM \\*)", "(NP=2 (NN x))", "( word)"}) {
    CAPTURE(tree);
    CHECK(reprint(tree) == tree);
  }
  CHECK(write_tree(tree_leaf("SYM", ":)")) == "(SYM :-RRB-)");
  CHECK(write_tree(tree_leaf("-LRB-", "(")) == "(-LRB- -LRB-)");
}

TEST_CASE("traces can be dropped with the constituents they empty") {
  const TreeOptions options = {.drop_traces = true};
  CHECK(reprint("(S (NP-SBJ (-NONE- *)) (VP (TO to) (VP (VB go))))", options) ==
        "(S (VP (TO to) (VP (VB go))))");
  CHECK(reprint("(S (NP (NN a)) (SBAR (-NONE- 0) (S (NP (-NONE- *T*-1)))))", options) ==
        "(S (NP (NN a)))");
  CHECK(reprint("(S (NP) (X (-NONE- *)) (VP (VB go)))", options) == "(S (NP) (VP (VB go)))");
  CHECK(reprint("( (S (NP (-NONE- *))))", options) == "()");
}

TEST_CASE("function tags and indices can be dropped") {
  const TreeOptions options = {.drop_functions = true};
  CHECK(reprint("(S (NP-SBJ-1 (PRP$ its) (NN dog)) (VP=2 (VB go) (-LRB- -LRB-)))", options) ==
        "(S (NP (PRP$ its) (NN dog)) (VP (VB go) (-LRB- -LRB-)))");
  CHECK(reprint("(S (NP-SBJ=3-1 (-NONE- *-1)) (ADVP|PRT-CLR (RP up)))", options) ==
        "(S (NP (-NONE- *-1)) (ADVP|PRT (RP up)))");
}

TEST_CASE("a fault is told with its line and column") {
  const auto fault = [](const std::string& text, const std::string& place,
                        const std::string& reason) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_trees(text, "f.ptb"), DataError);
    CHECK_THROWS_WITH(parse_trees(text, "f.ptb"), contains("f.ptb:" + place + ": "));
    CHECK_THROWS_WITH(parse_trees(text, "f.ptb"), contains(reason));
  };
  fault("(S (NP (NN a))", "1:1", "never closed");
  fault("(A (B c))\n  (S (NP (NN a))", "2:3", "never closed");
  fault("(A (B c)))", "1:10", "without an opening bracket");
  fault("(A (B c))\nword", "2:1", "outside all brackets");
  fault("(A (B c d))", "1:9", "second word");
  fault("(A (B c) d)", "1:10", "follows a constituent");
  fault("( A b c)", "1:7", "second word");
  fault("( (A b) c)", "1:9", "follows a constituent");
  fault("(A b (C d))", "1:6", "a constituent follows the word");
  fault("(A (B \xC3\xA4\xC3\xB6) x)", "1:11", "'x'");
  CHECK_THROWS_WITH(parse_trees("(A", "f", {}, 17), contains("f:17:1"));
  CHECK_THROWS_AS(read_trees("no/such/file.ptb"), DataError);
}

TEST_CASE("nesting is limited and deep trees can be walked") {
  const auto nested = [](int64_t depth) {
    std::string text;
    for (int64_t i = 1; i < depth; ++i) text += "(X ";
    text += "(Y z)" + std::string(static_cast<size_t>(depth - 1), ')');
    return text;
  };
  const std::string deepest = nested(kMaxTreeDepth);
  const TreeOptions options = {.drop_traces = true, .drop_functions = true};
  CHECK(reprint(deepest, options) == deepest);
  CHECK(read_one(format_tree(read_one(deepest))) == read_one(deepest));
  CHECK_THROWS_WITH(parse_trees(nested(kMaxTreeDepth + 1), "f"), contains("nested deeper"));
  CHECK_THROWS_AS(parse_trees(std::string(5'000'000, '('), "f"), DataError);
}

TEST_CASE("the reader fails with DataError only") {
  const std::string alphabet = "() \nAb-\xC3";
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += alphabet[random.below(alphabet.size())];
    try {
      for (const Tree& tree : parse_trees(text, "f")) CHECK(read_one(write_tree(tree)) == tree);
    } catch (const DataError&) {
    }
  }
}

TEST_CASE("the indented form reads back") {
  const Tree tree = read_one("(S (NP (DT the) (NN dog)) (VP (VBZ barks) (NP)) (. .))");
  CHECK(format_tree(tree) ==
        "(S\n  (NP (DT the) (NN dog))\n  (VP\n    (VBZ barks)\n    (NP))\n  (. .))");
  CHECK(read_one(format_tree(tree)) == tree);
}

TEST_CASE("dropping traces and functions of a raw treebank gives its published plain form") {
  const auto data = testing::shared_data("wsj-sample");
  if (!data) return;
  const auto trees =
      read_trees(*data / "dev.raw.ptb", {.drop_traces = true, .drop_functions = true});
  const auto plain = read_trees(*data / "dev.ptb");
  REQUIRE(trees.size() == plain.size());
  size_t different = 0;
  for (size_t i = 0; i < trees.size(); ++i)
    different += strip_root(trees[i]) != strip_root(plain[i]);
  CHECK(different == 0);
}

TEST_CASE("a tree is drawn with a line for each constituent") {
  CHECK(draw_tree(read_one("(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP it))) (. .))")) ==
        "S\n├─ NP  the dog\n├─ VP\n│  ├─ VBZ  sees\n│  └─ NP  it\n└─ .  .\n");
  CHECK(draw_tree(read_one("(NP (NN a))")) == "NP  a\n");
  CHECK(draw_tree(Tree{}) == "·\n");
}
