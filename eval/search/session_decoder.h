// A model as beam search sees it.
#pragma once

#include <memory>
#include <vector>

#include "data/token_counter.h"
#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "model/seq2seq.h"

namespace attn {

/// Turns a session's logits into candidates, under a constraint if there is one, and keeps the
/// second index of each row if there is a counter. Both may be null and must outlive this.
class SessionDecoder : public StepDecoder {
 public:
  explicit SessionDecoder(std::unique_ptr<DecodeSession> session,
                          TokenConstraint* constraint = nullptr,
                          const TokenCounter* counter = nullptr);
  void step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
            std::span<const int64_t> sentences, int64_t candidates, Candidates& out) override;

 private:
  std::unique_ptr<DecodeSession> session_;
  TokenConstraint* constraint_;
  const TokenCounter* counter_;
  std::vector<int64_t> counts_;  // of each present row; empty before the first step
};

}  // namespace attn
