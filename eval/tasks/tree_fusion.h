// Fuses the trees of an n-best list into one: minimum-Bayes-risk decoding for constituency trees
// (Goodman, 1996; Choe, McClosky and Charniak, 2015).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/parsing/tree.h"

namespace attn {

struct FusedTree {
  Tree tree;
  double expected_f1 = 0.0;  ///< from 0 to 1
};

/// exp(log_probs), normalized to sum to 1; uniform if none is finite. They are finite or -∞.
std::vector<double> probabilities_of(std::span<const double> log_probs);

/// Equal probabilities of samples, which are as frequent as they are probable; 0 for trees whose
/// search failed, of log-probability -∞, unless all are.
std::vector<double> sample_probabilities(std::span<const double> log_probs);

/// Longer sentences are not fused: O(n³) steps and O(n²) memory for n words.
inline constexpr int64_t kMaxFusedWords = 1000;

/// The tree whose labelled brackets have the highest expected F1 against a tree drawn from `trees`
/// with these probabilities. It may combine brackets of several trees. Expected F1 is the ratio of
/// expectations, 2 Σ p(b) / (|brackets| + Σ over all brackets p), with p(b) the probability of the
/// trees that have bracket b; it is maximized exactly, by CKY over p(b) - λ with Dinkelbach's
/// iteration on λ. That of no brackets is the probability of the trees without any. Brackets of the
/// same words are ordered as in the trees on average; a word's tag is its likeliest one other than
/// kNoTag. Outer brackets with a root label do not count, and the result has none. A sentence of
/// more than kMaxFusedWords has its likeliest tree, and so has one whose fused tree would be deeper
/// than kMaxTreeDepth. All trees have the same words, at least one; `probabilities` are 0 or more
/// and sum to 1.
FusedTree fuse_trees(std::span<const Tree> trees, std::span<const double> probabilities);

}  // namespace attn
