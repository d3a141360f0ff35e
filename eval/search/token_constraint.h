// Constrained decoding: the interface for restricting the next token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/step_rows.h"

namespace attn {

/// A set of tokens: bit t % 64 of word t / 64 for token t.
using TokenMask = std::vector<uint64_t>;

inline void allow(TokenMask& mask, int32_t token) {
  mask[static_cast<size_t>(token) / 64] |= uint64_t{1} << (token % 64);
}
inline bool is_allowed(const uint64_t* mask, size_t token) {
  return ((mask[token / 64] >> (token % 64)) & 1) != 0;
}

/// A constraint on the outputs of a batch, tracked per row during beam search.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  /// Called once per step with the rows of StepDecoder::step; returns the mask of allowed tokens of
  /// each row. The result is valid until the next call.
  virtual std::span<const uint64_t* const> step(const StepRows& rows) = 0;
  /// For each row of the last step the mask of a group of tokens, or null; empty: no groups. Within
  /// a group the probability of forbidden tokens is redistributed to the allowed ones in
  /// proportion, so that the total probability of the group does not change.
  virtual std::span<const uint64_t* const> groups() const { return {}; }
};

/// Renormalizes one row of logits: forbidden tokens of the group get -inf, and the allowed ones are
/// increased so that Σ exp over all tokens does not change. A row without an allowed token in the
/// group does not change.
void renormalize(std::span<float> logits, const uint64_t* allowed, const uint64_t* group);

}  // namespace attn
