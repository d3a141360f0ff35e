// Agreement between several parses of the same sentences, as a filter of automatic trees for
// self-training (Vinyals et al. 2015).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "data/parsing/tree.h"

namespace attn {

/// F1 in percent of the labelled brackets of two trees; 100 if neither has any. Nothing is deleted,
/// unlike EVALB with COLLINS.prm. std::nullopt if their words differ.
std::optional<double> bracket_f1(const Tree& a, const Tree& b);

struct AgreementOptions {
  /// Minimum F1 between the first parse and each of the others; std::nullopt: the trees must be
  /// equal, tags included.
  std::optional<double> min_f1;
  int64_t min_words = 1;
  int64_t max_words = 1000;
};

/// Whether parses of one sentence agree. The trees must have the same words and at least one;
/// throws DataError otherwise (without a place).
bool parses_agree(std::span<const Tree> parses, const AgreementOptions& options);

}  // namespace attn
