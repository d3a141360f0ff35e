// Bracket counts, total and per table row.
#pragma once

#include <cstdint>
#include <string>

namespace attn {

/// Bracket counts, with matched brackets counted on the gold and on the predicted side. They differ
/// only in tables by label if EQ_LABEL matches two different labels.
struct BracketCounts {
  int64_t gold = 0, test = 0;
  int64_t matched_gold = 0, matched_test = 0;

  double recall() const;     ///< percent; 0 without gold brackets
  double precision() const;  ///< percent; 0 without predicted brackets
  double f1() const;         ///< percent; 0 when nothing matches
  BracketCounts& operator+=(const BracketCounts& other);
  bool operator==(const BracketCounts&) const = default;
};

/// A row of a table, named by a label, or by a range "11-20" of sentence lengths or span lengths.
struct BracketTableRow {
  std::string name;
  int64_t sentences = 0;  ///< by sentence length only: the valid ones
  BracketCounts counts;
};

}  // namespace attn
