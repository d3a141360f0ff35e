// Constrained decoding: the interface for restricting the next token.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
inline void renormalize(std::span<float> logits, const uint64_t* allowed, const uint64_t* group) {
  float highest = -std::numeric_limits<float>::infinity();
  for (size_t t = 0; t < logits.size(); ++t) {
    if (is_allowed(group, t)) highest = std::max(highest, logits[t]);
  }
  double all = 0.0, kept = 0.0;
  for (size_t t = 0; t < logits.size(); ++t) {
    if (!is_allowed(group, t)) continue;
    const double mass = std::exp(static_cast<double>(logits[t]) - highest);
    all += mass;
    if (is_allowed(allowed, t)) kept += mass;
  }
  if (!(kept > 0.0)) return;  // no allowed token, or all have probability 0
  const auto lift = static_cast<float>(std::log(all / kept));
  for (size_t t = 0; t < logits.size(); ++t) {
    if (!is_allowed(group, t)) continue;
    logits[t] = is_allowed(allowed, t) ? logits[t] + lift : -std::numeric_limits<float>::infinity();
  }
}

}  // namespace attn
