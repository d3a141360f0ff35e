#include "eval/tasks/tree_fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace attn;
using namespace attn::testing;

namespace {

using BracketOfWords = std::tuple<int64_t, int64_t, std::string>;

int64_t collect(const Tree& tree, int64_t begin, std::multiset<BracketOfWords>& brackets) {
  if (tree.is_leaf()) return begin + 1;
  int64_t end = begin;
  for (const Tree& child : tree.children) end = collect(child, end, brackets);
  if (!tree.label.empty()) brackets.insert({begin, end, tree.label});
  return end;
}

std::multiset<BracketOfWords> brackets_of(const Tree& tree) {
  std::multiset<BracketOfWords> brackets;
  collect(tree, 0, brackets);
  return brackets;
}

// Every word has a bracket or more; constituents of one word are chains.
Tree random_tree(Random& random, int64_t begin, int64_t end) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
  };
  Tree tree;
  if (end - begin == 1) {
    tree = tree_leaf("T" + std::to_string(below(3)), "w" + std::to_string(begin));
  } else {
    const int64_t middle = begin + 1 + below(end - begin - 1);
    std::vector<Tree> children = {random_tree(random, begin, middle),
                                  random_tree(random, middle, end)};
    tree = tree_node("", std::move(children));
    tree.label = below(2) == 0 ? "A" : "B";
  }
  while (below(4) == 0) tree = tree_node(below(2) == 0 ? "A" : "B", {std::move(tree)});
  return tree;
}

// Probabilities of brackets; the k-th of equal brackets of a tree is one of its own.
using Pool = std::vector<std::pair<BracketOfWords, double>>;

Pool pool_of(std::span<const Tree> trees, std::span<const double> probabilities) {
  std::map<std::pair<BracketOfWords, int64_t>, double> sums;
  for (size_t i = 0; i < trees.size(); ++i) {
    std::map<BracketOfWords, int64_t> seen;
    for (const auto& bracket : brackets_of(trees[i])) {
      sums[{bracket, seen[bracket]++}] += probabilities[i];
    }
  }
  Pool pool;
  for (const auto& [key, probability] : sums) pool.emplace_back(key.first, probability);
  return pool;
}

double f1_of(const Pool& pool, const std::multiset<BracketOfWords>& brackets) {
  std::map<BracketOfWords, int64_t> left;
  for (const auto& bracket : brackets) ++left[bracket];
  double matched = 0, total = 0;
  for (const auto& [bracket, probability] : pool) {
    total += probability;
    if (left[bracket]-- > 0) matched += probability;
  }
  return 2 * matched / (static_cast<double>(brackets.size()) + total);
}

bool cross(const BracketOfWords& a, const BracketOfWords& b) {
  const auto [i, j, x] = a;
  const auto [k, l, y] = b;
  return (i < k && k < j && j < l) || (k < i && i < l && l < j);
}

// The highest F1 of all sets of brackets that do not cross.
double highest_f1(const Pool& pool) {
  double best = 0;
  for (uint64_t set = 1; set < uint64_t{1} << pool.size(); ++set) {
    std::multiset<BracketOfWords> brackets;
    bool nested = true;
    for (size_t i = 0; nested && i < pool.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      nested = std::ranges::none_of(brackets,
                                    [&](const auto& other) { return cross(other, pool[i].first); });
      brackets.insert(pool[i].first);
    }
    if (nested) best = std::max(best, f1_of(pool, brackets));
  }
  return best;
}

Tree tree_of(const std::string& text) {
  return parse_trees(text, "test").front();
}

}  // namespace

TEST_CASE("outer brackets do not count, and words without brackets stay words") {
  const std::vector<Tree> trees = {tree_of("(TOP (S (NN a) (NN b)))"),
                                   tree_of("(TOP (NN a) (SYM b))")};
  const std::vector<double> likely = {0.9, 0.1}, rare = {0.2, 0.8};
  CHECK(write_tree(fuse_trees(trees, likely).tree) == "(S (NN a) (NN b))");
  CHECK(fuse_trees(trees, likely).expected_f1 == Approx(2 * 0.9 / 1.9));
  const std::vector<Tree> flat = {tree_of("(TOP (NN a) (SYM b))")};
  const double all = 1;
  CHECK(write_tree(fuse_trees(flat, std::span(&all, 1)).tree) == "( (NN a) (SYM b))");
  CHECK(write_tree(fuse_trees(trees, rare).tree) == "( (NN a) (SYM b))");
  CHECK(fuse_trees(trees, rare).expected_f1 == Approx(0.8));
}

TEST_CASE("forms without tags have no vote on the tag") {
  const std::vector<Tree> trees = {tree_of("(S (XX a) (XX b))"), tree_of("(S (NN a) (XX b))"),
                                   tree_of("(S (VB a) (XX b))")};
  const std::vector<double> probabilities = {0.5, 0.2, 0.3};
  CHECK(write_tree(fuse_trees(trees, probabilities).tree) == "(S (VB a) (XX b))");
}

TEST_CASE("a very long sentence has its likeliest tree, with its expected F1") {
  std::string words;
  for (int i = 0; i <= kMaxFusedWords; ++i) words += " (NN w)";
  const std::vector<Tree> trees = {tree_of("(S" + words + ")"), tree_of("(NP" + words + ")")};
  const std::vector<double> probabilities = {0.25, 0.75};
  const FusedTree fused = fuse_trees(trees, probabilities);
  CHECK(fused.tree.label == "NP");
  CHECK(fused.expected_f1 == Approx(2 * 0.75 / (1 + 1)));
}

TEST_CASE("a fused tree that would be too deep is the likeliest of the trees") {
  std::vector<Tree> trees;
  for (const std::string label : {"A", "B", "C"}) {
    std::string text = "(X w)";
    for (int i = 0; i < 900; ++i) {
      text.insert(0, "(" + label + std::to_string(i) + " ");
      text += ")";
    }
    trees.push_back(tree_of(text));
  }
  const std::vector<double> probabilities = {0.3, 0.4, 0.3};
  const FusedTree fused = fuse_trees(trees, probabilities);
  CHECK(fused.tree.label == "B899");
  CHECK(fused.expected_f1 == Approx(0.4));
  const std::vector<double> two = {0.5, 0.5};
  CHECK(fuse_trees(std::span(trees).first(2), two).expected_f1 == Approx(2.0 / 3));
}

TEST_CASE("no tree of brackets that do not cross has a higher expected F1", "[slow]") {
  Random random(7);
  int tried = 0;
  for (int round = 0; round < 150; ++round) {
    const int64_t words = 1 + round % 4;
    std::vector<Tree> trees;
    std::vector<double> probabilities;
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      trees.push_back(random_tree(random, 0, words));
      probabilities.push_back(random.uniform() + 0.01);
      sum += probabilities.back();
    }
    for (double& probability : probabilities) probability /= sum;
    const Pool pool = pool_of(trees, probabilities);
    if (pool.empty() || pool.size() > 14) continue;
    ++tried;
    const FusedTree fused = fuse_trees(trees, probabilities);
    CAPTURE(write_tree(trees[0]), write_tree(trees[1]), write_tree(trees[2]),
            write_tree(fused.tree));
    CHECK(tree_words(fused.tree) == tree_words(trees.front()));
    double bare = 0;
    for (size_t i = 0; i < trees.size(); ++i) {
      if (brackets_of(trees[i]).empty()) bare += probabilities[i];
    }
    const auto brackets = brackets_of(fused.tree);
    CHECK(fused.expected_f1 == Approx(brackets.empty() ? bare : f1_of(pool, brackets)));
    CHECK(fused.expected_f1 == Approx(std::max(bare, highest_f1(pool))));
  }
  CHECK(tried > 50);
}

TEST_CASE("log-probabilities of any size are normalized to probabilities") {
  const std::vector<double> far = {-2000.0, -2000.0 + std::log(3.0)};
  CHECK(probabilities_of(far)[0] == Approx(0.25));
  CHECK(probabilities_of(far)[1] == Approx(0.75));
  const double none = -std::numeric_limits<double>::infinity();
  CHECK(probabilities_of(std::vector<double>{-1.0, none}) == std::vector<double>{1.0, 0.0});
  CHECK(probabilities_of(std::vector<double>{none, none}) == std::vector<double>{0.5, 0.5});
  CHECK(probabilities_of({}).empty());
}
