// Sentence statistics of outputs with known scores.
#pragma once

#include <cstddef>
#include <vector>

#include "eval/metrics/bleu.h"

namespace attn::testing {

/// `all` sentences of six words, of which `right` are the reference and the others have no word of
/// it. Evenly spread.
inline std::vector<BleuStatistics> sentences(size_t right, size_t all = 400) {
  std::vector<BleuStatistics> out(all);
  for (size_t i = 0; i < all; ++i) {
    out[i].totals = {6, 5, 4, 3};
    out[i].hyp_length = out[i].ref_length = 6;
    if (i * right / all != (i + 1) * right / all) out[i].counts = {6, 5, 4, 3};
  }
  return out;
}

}  // namespace attn::testing
