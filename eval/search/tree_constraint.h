// Constrained decoding of trees: after each prefix exactly those symbols are allowed that can still
// lead to a well-formed tree over the sentence within the length limit.
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

/// The tokens of a vocabulary as tree symbols, with precomputed masks for search.
class TreeVocabulary {
 public:
  /// Throws DataError if there is no leaf, no label that can be opened and closed, or more than
  /// 4,096 labels.
  TreeVocabulary(const Tokenizer& symbols, TreeForm form);

  TreeForm form() const { return form_; }
  const LabelSet& labels() const { return labels_; }
  /// The kind of a token; std::nullopt for special tokens, non-symbols and symbols without a
  /// counterpart, which are never allowed.
  std::optional<TreeSymbol::Kind> kind(int32_t token) const;
  /// Label index of an opening token.
  int32_t label(int32_t token) const;

  /// `closing`: the label that may be closed; -1: none.
  const TokenMask& mask(bool open, bool leaf, int32_t closing) const;
  const TokenMask& end_mask() const { return end_; }
  /// EOS and all openings.
  const TokenMask& end_or_open_mask() const { return end_or_open_; }
  /// The mask of the given leaves; empty if none is in the vocabulary.
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
  TokenMask end_, end_or_open_, leaves_;
  std::map<std::string, int32_t, std::less<>> leaf_tokens_;
};

/// Minimum length of a tree over `words` words in tokens, EOS included.
constexpr int64_t shortest_tree(int64_t words) {
  return words == 1 ? 2 : words + 3;
}

/// Finished outputs are well-formed trees with one leaf per word and no empty constituents, at most
/// `max_opened` constituents opened between two leaves (which bounds unary chains) and at most
/// `max_depth` open at a time; with the form in_order, which opens a constituent after its first
/// child, between two leaves and levels of the tree. The length limit always leaves room to close
/// open constituents.
class TreeConstraint : public TokenConstraint {
 public:
  /// At most 8 occur in 21,000 trees of three corpora.
  static constexpr int32_t max_opened = 12;
  static constexpr int32_t max_depth = 500;

  /// Per sentence: the number of words (at least 1) and the length limit with EOS (at least
  /// shortest_tree(words)). `leaves`: optionally, per sentence and word, the mask of its possible
  /// leaves (TreeVocabulary::leaf_mask; empty: any). The vocabulary must outlive this.
  TreeConstraint(const TreeVocabulary& vocabulary, std::vector<int64_t> words,
                 std::vector<int64_t> limits, std::vector<std::vector<TokenMask>> leaves = {});

  std::span<const uint64_t* const> step(const StepRows& rows) override;
  /// The leaves, for rows whose next word is restricted: the probability of a leaf does not change.
  std::span<const uint64_t* const> groups() const override { return groups_; }

 private:
  /// State of a row.
  struct State {
    int64_t bracket = -1;  ///< innermost open constituent, in brackets_
    int64_t leaves_left = 0;
    int32_t depth = 0;   ///< constituents open
    int32_t opened = 0;  ///< opened since the last leaf or closing; in order: the last leaf
    int32_t height = 0;  ///< levels of the highest child of the innermost open constituent
    int32_t last = 0;    ///< levels of its last child
    bool started = false;
    bool labelled = false;  ///< the last symbol opened a constituent
  };
  /// Stack of open constituents, shared between rows as a tree.
  struct Bracket {
    int64_t parent;
    int32_t label;
    int32_t height;  ///< State::height outside of it
  };

  State advance(State state, int32_t token);
  const TokenMask& allowed(const State& state, int64_t room) const;
  const TokenMask& allowed_in_order(const State& state, int64_t room) const;
  const uint64_t* narrowed(const TokenMask& mask, size_t sentence, int64_t leaves_left, size_t row);

  const TreeVocabulary& vocabulary_;
  std::vector<int64_t> words_, limits_;
  std::vector<std::vector<TokenMask>> leaves_;
  std::vector<TokenMask> narrowed_;  // one per row
  std::vector<Bracket> brackets_;
  std::vector<State> states_, next_;
  std::vector<const uint64_t*> masks_, groups_;
  int64_t written_ = -1;  ///< tokens of each row; -1: before the first step
};

}  // namespace attn
