// Bracket counts by label, by sentence length and by span length.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eval/metrics/parse_brackets.h"
#include "eval/metrics/parse_counts.h"

namespace attn {

/// Collects the tables of a ParseScore.
class ParseTables {
 public:
  /// Adds a valid sentence with matched brackets. `length`: as in EVALB's column "Len.".
  void add(const ParseBrackets& gold, const ParseBrackets& predicted, int64_t length);

  std::vector<BracketTableRow> by_label() const;   ///< most gold brackets first
  std::vector<BracketTableRow> by_length() const;  ///< "1-10", "11-20" …
  std::vector<BracketTableRow> by_span() const;    ///< "1" … "5", "6-10", "11-20" …

 private:
  // Keys are the first and last value of a range.
  using Ranges = std::map<std::pair<int64_t, int64_t>, BracketTableRow>;
  static std::vector<BracketTableRow> named(const Ranges& ranges);

  std::map<std::string, BracketCounts, std::less<>> labels_;
  Ranges lengths_, spans_;
};

}  // namespace attn
