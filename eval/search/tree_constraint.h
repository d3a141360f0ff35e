// Search for trees alone: after each prefix exactly those symbols are allowed from which a
// well-formed tree over the sentence's words can still be reached within the length limit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/parsing/linearize.h"
#include "data/tokenizer.h"
#include "eval/search/token_constraint.h"

namespace attn {

/// What the tokens of a vocabulary mean as symbols of trees, and the masks that search needs: one
/// for each combination of what may come next, made once.
class TreeVocabulary {
 public:
  /// Throws DataError when no constituent can be opened and closed or there is no leaf.
  TreeVocabulary(const Tokenizer& symbols, TreeForm form);

  TreeForm form() const { return form_; }
  const LabelSet& labels() const { return labels_; }
  /// The kind of a token; nothing for signs and for what is no symbol or has no counterpart: these
  /// are never allowed.
  std::optional<TreeSymbol::Kind> kind(int32_t token) const;
  /// Which label, from 0, an opening token has.
  int32_t label(int32_t token) const;

  /// `closing`: the label that may be closed; -1: none.
  const TokenMask& mask(bool open, bool leaf, int32_t closing) const;
  const TokenMask& end_mask() const { return end_; }
  /// The leaves among the symbols, as a mask; empty when none of them is a leaf of this vocabulary.
  TokenMask leaf_mask(std::span<const std::string> symbols) const;
  /// All leaves.
  const TokenMask& leaves() const { return leaves_; }

 private:
  struct Meaning {
    std::optional<TreeSymbol::Kind> kind;
    int32_t label = -1;
  };
  void make_masks(int32_t eos);

  TreeForm form_;
  LabelSet labels_;
  std::vector<Meaning> meanings_;
  std::vector<TokenMask> masks_;
  TokenMask end_, leaves_;
  std::map<std::string, int32_t, std::less<>> leaf_tokens_;
};

/// The fewest tokens, the end sign included, in which a tree over so many words can be written.
constexpr int64_t shortest_tree(int64_t words) {
  return words == 1 ? 2 : words + 3;
}

/// Follows every row of a batch's search. Every output that it lets end is a well-formed tree with
/// as many leaves as the sentence has words, without empty constituents, with at most
/// `most_opened` constituents opened between two leaves (so that unary chains end) and at most
/// `most_depth` open at once; the length limit always leaves room to close what is open.
class TreeConstraint : public TokenConstraint {
 public:
  /// In 21,000 trees of three corpora at most 8 are opened in a row.
  static constexpr int32_t most_opened = 12;
  static constexpr int32_t most_depth = 500;

  /// For each sentence its words, at least 1, and the most tokens of an output (the end sign
  /// included), at least shortest_tree(words). `leaves` holds, for each sentence and word, the mask
  /// of the leaves that it may be (TreeVocabulary::leaf_mask), empty for any; or nothing at all.
  /// The vocabulary must outlive this.
  TreeConstraint(const TreeVocabulary& vocabulary, std::vector<int64_t> words,
                 std::vector<int64_t> limits, std::vector<std::vector<TokenMask>> leaves = {});

  std::span<const uint64_t* const> step(std::span<const int64_t> parents,
                                        std::span<const int32_t> tokens,
                                        std::span<const int64_t> sentences) override;
  /// The leaves, where the next word is kept to some of them: whether a leaf comes next is the
  /// model's decision still.
  std::span<const uint64_t* const> groups() const override { return groups_; }

 private:
  /// What a row has written so far, as far as it matters.
  struct State {
    int64_t bracket = -1;  ///< innermost open constituent, in brackets_
    int64_t leaves_left = 0;
    int32_t depth = 0;   ///< constituents open
    int32_t opened = 0;  ///< opened since the last leaf or closing
    bool done = false;
  };
  /// Open constituents of all rows as one tree, so that rows share what they have in common.
  struct Bracket {
    int64_t parent;
    int32_t label;
  };

  State advance(State state, int32_t token);
  const TokenMask& allowed(const State& state, int64_t room, bool begun) const;
  const uint64_t* narrowed(const TokenMask& mask, size_t sentence, int64_t leaves_left, size_t row);

  const TreeVocabulary& vocabulary_;
  std::vector<int64_t> words_, limits_;
  std::vector<std::vector<TokenMask>> leaves_;
  std::vector<TokenMask> narrowed_;  // one a row
  std::vector<Bracket> brackets_;
  std::vector<State> states_, next_;
  std::vector<const uint64_t*> masks_, groups_;
  int64_t written_ = -1;  ///< tokens of each row; -1: before the first step
};

}  // namespace attn
