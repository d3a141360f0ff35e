// Adapts a model to beam search.
#pragma once

#include <memory>
#include <vector>

#include "data/token_counter.h"
#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "model/seq2seq.h"

namespace attn {

/// Selects candidates from a session's logits, with an optional constraint and an optional counter
/// for the second position of rows. Both must outlive this.
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
  std::vector<int64_t> counts_;  // per row; empty before the first step
};

}  // namespace attn
