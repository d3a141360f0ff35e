// Trees as EVALB compares them: words, and brackets over spans.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/parsing/tree.h"
#include "eval/metrics/evalb_parameters.h"

namespace attn {

/// A word with its tag, which is compared whole, function and all.
struct TaggedWord {
  std::string_view word, tag;
};

/// A constituent.
struct ParseBracket {
  int64_t start = 0, end = 0;  ///< of the words that count: [start, end)
  std::string_view label;      ///< cut at the first '-' or '='
  bool counts = true;          ///< has words, and its label is not deleted
  int64_t match = -1;          ///< index of the other tree's bracket that it was matched with
};

/// A word that could be a quotation mark (QUOTE_LABEL): where it is or, deleted, would have been.
struct ParseQuote {
  TaggedWord word;
  int64_t index = 0;            ///< in the words that count
  int64_t brackets_before = 0;  ///< opened before it
  std::vector<int64_t> open;    ///< brackets around it
};

/// The words that count, the brackets in the order in which they open, the quotes. Views into the
/// trees, which must outlive it.
struct ParseBrackets {
  std::vector<TaggedWord> words;
  std::vector<ParseBracket> brackets;
  std::vector<ParseQuote> quotes;
  int64_t length = 0;  ///< words but those of DELETE_LABEL_FOR_LENGTH

  int64_t counting() const;  ///< brackets that count
};

/// Reads off the brackets of a sentence, which may have several trees.
ParseBrackets parse_brackets(std::span<const Tree> trees, const EvalbParameters& parameters);

/// EVALB's repair where the numbers of words differ: where one tree has a quotation mark (deleted)
/// and the other, at the same place, the same sign under a tag that is not deleted, the mark is put
/// back as a word.
void restore_quotes(ParseBrackets& gold, ParseBrackets& predicted,
                    const EvalbParameters& parameters);

/// Pairs each gold bracket in turn with the first free predicted one of the same span and, unless
/// unlabelled, label; sets `match` and returns the number of pairs. Labels need not be transitively
/// equal, so the order matters.
int64_t match_brackets(ParseBrackets& gold, ParseBrackets& predicted,
                       const EvalbParameters& parameters);

/// Predicted brackets that overlap a gold one without either being in the other.
int64_t count_crossing(const ParseBrackets& gold, const ParseBrackets& predicted);

}  // namespace attn
