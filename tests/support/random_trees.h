// Random constituency trees and random symbols, for property tests.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "data/parsing/tree.h"

namespace attn::testing {

/// What random trees are made of.
struct TreeKinds {
  std::vector<std::string> labels = {"S", "NP", "VP", "PP"};
  std::vector<std::string> tags = {"DT", "NN", "VB", ","};
  bool empty_constituents = false;
};

inline const std::string& pick(const std::vector<std::string>& from, Random& random) {
  return from[random.below(from.size())];
}

/// A constituent over one to some twenty words w0, w1 … of at most `depth` further levels.
inline Tree random_tree(Random& random, int64_t depth, const TreeKinds& kinds = {}) {
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

}  // namespace attn::testing
