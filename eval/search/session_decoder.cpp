#include "eval/search/session_decoder.h"

#include <utility>

#include "base/stop_signal.h"
#include "eval/search/candidates.h"

namespace attn {

CountedSession::CountedSession(std::unique_ptr<DecodeSession> session, const TokenCounter* counter)
    : session_(std::move(session)), counter_(counter) {}

torch::Tensor CountedSession::step(StepRows& rows) {
  throw_if_stopped();
  if (counter_ != nullptr) {
    std::vector<int64_t> counts(rows.tokens.size());
    for (size_t r = 0; r < counts.size(); ++r) {
      const int64_t before = counts_.empty() ? 0 : counts_[static_cast<size_t>(rows.parents[r])];
      counts[r] = counter_->next(before, rows.tokens[r]);
    }
    counts_.swap(counts);
    rows.second = counts_;
  }
  return session_->step(rows);
}

SessionDecoder::SessionDecoder(CountedSession session, TokenConstraint* constraint)
    : session_(std::move(session)), constraint_(constraint) {}

void SessionDecoder::step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
                          std::span<const int64_t> sentences, int64_t candidates, Candidates& out) {
  StepRows rows{parents, tokens, sentences};
  const torch::Tensor logits_RV = session_.step(rows);
  select_candidates(logits_RV, rows, constraint_, candidates, out);
}

}  // namespace attn
