#include "data/token_counter.h"

namespace attn {

TokenCounter::TokenCounter(int64_t vocabulary, std::span<const int32_t> counted)
    : counts_(static_cast<size_t>(vocabulary), 0) {
  for (const int32_t token : counted) counts_.at(static_cast<size_t>(token)) = 1;
}

void TokenCounter::append(std::span<const int64_t> tokens, std::vector<int64_t>& out) const {
  int64_t count = 0;
  for (const int64_t token : tokens) {
    count = next(count, token);
    out.push_back(count);
  }
}

}  // namespace attn
