// Adapts a model to sampling.
#pragma once

#include <vector>

#include "eval/search/sample_search.h"
#include "eval/search/session_decoder.h"

namespace attn {

/// Draws tokens from a session's distribution with the config's temperature, top_k and top_p, and
/// an optional constraint (without groups), which must outlive this. Never draws `bos`, unless it
/// is `eos`.
class SessionSampler : public StepSampler {
 public:
  SessionSampler(CountedSession session, TokenConstraint* constraint, const SearchConfig& config,
                 int32_t bos, int32_t eos);
  void step(StepRows rows, std::span<const Draw> draws, std::vector<DrawnToken>& out) override;

 private:
  CountedSession session_;
  TokenConstraint* constraint_;
  int32_t bos_, eos_;
  double temperature_;
  int64_t top_k_;
  double top_p_;
};

}  // namespace attn
