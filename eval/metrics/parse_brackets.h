// Words and brackets of trees, as EVALB compares them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/parsing/tree.h"
#include "eval/metrics/evalb_parameters.h"

namespace attn {

/// A word with its tag. Tags are compared including function tags.
struct TaggedWord {
  std::string_view word, tag;
};

/// A constituent.
struct ParseBracket {
  int64_t start = 0, end = 0;  ///< span over the words that count: [start, end)
  std::string_view label;      ///< cut at the first '-' or '='
  bool counts = true;          ///< has words, and its label is not deleted
  int64_t match = -1;          ///< index of the other tree's bracket that it was matched with
};

/// A word that may be a quotation mark (QUOTE_LABEL), with its position or, if deleted, the
/// position it would have.
struct ParseQuote {
  TaggedWord word;
  int64_t index = 0;            ///< in the words that count
  int64_t brackets_before = 0;  ///< opened before it
  std::vector<int64_t> open;    ///< brackets around it
};

/// The words that are not deleted, the brackets in the order of their opening, and the quotes. Has
/// views into the trees, which must outlive it.
struct ParseBrackets {
  std::vector<TaggedWord> words;
  std::vector<ParseBracket> brackets;
  std::vector<ParseQuote> quotes;
  int64_t length = 0;  ///< words except those of DELETE_LABEL_FOR_LENGTH

  int64_t counting() const;  ///< brackets that count
};

/// Collects the brackets of a sentence, which may have several trees.
ParseBrackets parse_brackets(std::span<const Tree> trees, const EvalbParameters& parameters);

/// EVALB's repair if the numbers of words differ: a deleted quotation mark is restored as a word if
/// the other tree has a word at the same position whose tag, of quotation marks, is not deleted.
void restore_quotes(ParseBrackets& gold, ParseBrackets& predicted,
                    const EvalbParameters& parameters);

/// Matches each gold bracket in turn with the first unmatched predicted one of the same span and,
/// unless unlabelled, the same label. Sets `match` and returns the number of matches. The order
/// matters, since equality of labels (EQ_LABEL) need not be transitive.
int64_t match_brackets(ParseBrackets& gold, ParseBrackets& predicted,
                       const EvalbParameters& parameters);

/// Number of predicted brackets that cross a gold one: they overlap, and neither contains the
/// other.
int64_t count_crossing(const ParseBrackets& gold, const ParseBrackets& predicted);

}  // namespace attn
