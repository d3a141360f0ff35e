// Adapts a model to beam search.
#pragma once

#include <memory>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "model/seq2seq.h"

namespace attn {

/// A session that also counts tokens for the second position of rows, if there is a counter, which
/// must outlive this.
class CountedSession {
 public:
  explicit CountedSession(std::unique_ptr<DecodeSession> session,
                          const TokenCounter* counter = nullptr);
  /// Like DecodeSession::step(); fills in rows.second, valid until the next call. Throws Stopped.
  torch::Tensor step(StepRows& rows);

 private:
  std::unique_ptr<DecodeSession> session_;
  const TokenCounter* counter_;
  std::vector<int64_t> counts_;  // per row; empty before the first step
};

/// Selects candidates from a session's logits, with an optional constraint, which must outlive
/// this.
class SessionDecoder : public StepDecoder {
 public:
  explicit SessionDecoder(CountedSession session, TokenConstraint* constraint = nullptr);
  void step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
            std::span<const int64_t> sentences, int64_t candidates, Candidates& out) override;

 private:
  CountedSession session_;
  TokenConstraint* constraint_;
};

}  // namespace attn
