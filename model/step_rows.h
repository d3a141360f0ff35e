// The rows of one decoding step: the active hypotheses of beam search.
#pragma once

#include <cstdint>
#include <span>

namespace attn {

/// Row r continues row parents[r] of the previous step (back-pointer) with token tokens[r] and
/// belongs to sentence sentences[r] of the batch; the rows of a sentence are contiguous, in batch
/// order. At the first step there is one row per sentence and parents is the identity.
struct StepRows {
  std::span<const int64_t> parents;
  std::span<const int32_t> tokens;
  std::span<const int64_t> sentences;
};

}  // namespace attn
