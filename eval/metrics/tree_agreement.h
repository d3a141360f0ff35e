// Agreement between several parses of the same sentences, as a filter of automatic trees for
// self-training (Vinyals et al. 2015).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/parsing/tree.h"
#include "eval/metrics/parse_brackets.h"

namespace attn {

/// F1 in percent of the labelled brackets of two trees; 100 if neither has any. Nothing is deleted,
/// unlike EVALB with COLLINS.prm. std::nullopt if their words differ.
inline std::optional<double> bracket_f1(const Tree& a, const Tree& b) {
  if (tree_words(a) != tree_words(b)) return {};
  const EvalbParameters parameters;
  ParseBrackets first = parse_brackets(std::span(&a, 1), parameters),
                second = parse_brackets(std::span(&b, 1), parameters);
  const int64_t all = first.counting() + second.counting();
  if (all == 0) return 100.0;
  return 200.0 * static_cast<double>(match_brackets(first, second, parameters)) /
         static_cast<double>(all);
}

struct AgreementOptions {
  /// Minimum F1 between the first parse and each of the others; std::nullopt: the trees must be
  /// equal, tags included.
  std::optional<double> min_f1;
  int64_t min_words = 1;
  int64_t max_words = 1000;
};

/// Whether parses of one sentence agree. The trees must have the same words and at least one;
/// throws DataError otherwise (without a place).
inline bool parses_agree(std::span<const Tree> parses, const AgreementOptions& options) {
  const Tree& first = parses.front();
  bool agree = true;
  for (const Tree& other : parses.subspan(1)) {
    const auto f1 = bracket_f1(first, other);
    if (!f1) throw DataError("the words of the trees differ");
    agree = agree && (options.min_f1 ? *f1 >= *options.min_f1 : other == first);
  }
  const auto words = static_cast<int64_t>(tree_words(first).size());
  return agree && words >= options.min_words && words <= options.max_words;
}

}  // namespace attn
