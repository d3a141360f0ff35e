// Bracket counts, total and per table row.
#pragma once

#include <cstdint>
#include <string>

namespace attn {

/// Matched brackets, seen from gold and from the prediction. The two differ only where EQ_LABEL
/// matches different labels and one row of a table by label has but one of them.
struct BracketCounts {
  int64_t gold = 0, test = 0;
  int64_t matched_gold = 0, matched_test = 0;

  double recall() const;     ///< percent; 0 without gold brackets
  double precision() const;  ///< percent; 0 without predicted brackets
  double f1() const;         ///< percent; 0 when nothing matches
  BracketCounts& operator+=(const BracketCounts& other);
  bool operator==(const BracketCounts&) const = default;
};

/// Rows are named by the label, by the range "11-20" of lengths, or by the range of span lengths.
struct BracketTableRow {
  std::string name;
  int64_t sentences = 0;  ///< by sentence length only: the valid ones
  BracketCounts counts;
};

}  // namespace attn
