#include "eval/search/session_decoder.h"

#include <utility>

#include "eval/search/candidates.h"

namespace attn {

SessionDecoder::SessionDecoder(std::unique_ptr<DecodeSession> session, TokenConstraint* constraint,
                               const TokenCounter* counter)
    : session_(std::move(session)), constraint_(constraint), counter_(counter) {}

void SessionDecoder::step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
                          std::span<const int64_t> sentences, int64_t candidates, Candidates& out) {
  StepRows rows{parents, tokens, sentences};
  if (counter_ != nullptr) {
    std::vector<int64_t> counts(tokens.size());
    for (size_t r = 0; r < tokens.size(); ++r) {
      const int64_t before = counts_.empty() ? 0 : counts_[static_cast<size_t>(parents[r])];
      counts[r] = counter_->next(before, tokens[r]);
    }
    counts_.swap(counts);
    rows.second = counts_;
  }
  select_candidates(session_->step(rows), rows, constraint_, candidates, out);
}

}  // namespace attn
