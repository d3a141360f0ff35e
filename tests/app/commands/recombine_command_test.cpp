#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "data/parsing/treebank.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

namespace {

std::string run_recombine(const std::string& arguments) {
  CLI::App app;
  add_recombine_command(app);
  std::ostringstream out;
  std::streambuf* old = std::cout.rdbuf(out.rdbuf());
  app.parse("recombine " + arguments);
  std::cout.rdbuf(old);
  return out.str();
}

void collect(const Tree& tree, std::set<std::string>& productions) {
  std::string production = tree.label + " " + tree.word + " ->";
  for (const Tree& child : tree.children) {
    production += " " + child.label;
    collect(child, productions);
  }
  productions.insert(production);
}

}  // namespace

TEST_CASE("recombined trees are new, short, and of the treebank's own productions") {
  const testing::TemporaryDirectory folder;
  const std::string treebank =
      "(TOP (S (NP-SBJ (DT a) (NN dog)) (VP (VBZ sees) (NP (NP (NN sea)) (PP (IN by) (NP (NN "
      "night)))))))\n( (S (NP (NN rain)) (VP (VBZ falls) (NP (-NONE- *)))))\n(TOP (S (NP (NNS "
      "cats)) (VP (VBZ sees) (NP (PRP it)))))\n(X (Y z))";
  const auto path = folder.write("trees", treebank);
  std::set<std::string> own, made, before;
  for (const Tree& tree : read_trees(path, {.drop_traces = true, .drop_functions = true})) {
    collect(bare_tree(tree), own);
    before.insert(write_tree(with_root(tree)));
  }
  const std::string text = run_recombine(path + " --passes 50 --probability 0.5 --max-words 5");
  CHECK(text == run_recombine(path + " --passes 50 --probability 0.5 --max-words 5"));
  CHECK(text != run_recombine(path + " --passes 50 --probability 0.5 --max-words 5 --seed 2"));
  for (const Tree& tree : parse_trees(text, "recombined")) {
    collect(bare_tree(tree), made);
    CHECK(tree.label == "TOP");
    CHECK(tree_words(tree).size() <= 5);
    CHECK(before.insert(write_tree(tree)).second);
  }
  CHECK(before.size() > 20);
  CHECK(std::ranges::includes(own, made));
  CHECK(run_recombine(path + " --probability 0").empty());
  CHECK_THROWS(run_recombine(folder.write("open", "(S (NP (NN a))")));
}
