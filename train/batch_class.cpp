#include "train/batch_class.h"

#include <algorithm>
#include <bit>

namespace attn {
namespace {

int64_t divided_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

// The next number with two significant bits: at most a half larger.
int64_t rounded_up(int64_t value) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(value)));
  const int extra = std::max(bits - 2, 0);
  return divided_up(value, int64_t{1} << extra) << extra;
}

void add_sentences(TokenRows& rows, int64_t count, int64_t tokens, int64_t longest, int64_t token) {
  for (; count > 0; --count) {
    const int64_t length = std::min(longest, tokens - (count - 1));
    rows.lengths.push_back(length);
    tokens -= length;
    rows.tokens.insert(rows.tokens.end(), length, token);
  }
}

}  // namespace

ClassRule class_rule(int64_t batch_tokens, int64_t max_length) {
  const int64_t step = std::max(batch_tokens / 16, std::min<int64_t>(1024, batch_tokens / 4));
  return {.row_step = std::max<int64_t>(8 * divided_up(step, 8), 8), .max_length = max_length};
}

BatchClass class_of(const Batch& batch, const ClassRule& rule) {
  constexpr int64_t kShort = 16;
  BatchClass out;
  const int64_t longest = std::max(batch.source.longest(), batch.target_in.longest());
  out.longest = std::max(rounded_up(longest), kShort);
  if (rule.max_length > 0) out.longest = std::max(std::min(out.longest, rule.max_length), longest);
  const auto rows_for = [&](int64_t tokens, int64_t padding) {
    const int64_t least = tokens + out.longest + padding - 1;  // the others have a row or more
    return divided_up(least, rule.row_step) * rule.row_step;
  };
  // More padding may need more sentences, and they more rows.
  for (int64_t padding = 1;;) {
    out.source_rows = rows_for(batch.source_tokens, padding);
    out.target_rows = rows_for(batch.target_tokens, padding);
    const int64_t most =
        std::max(out.source_rows - batch.source_tokens, out.target_rows - batch.target_tokens);
    out.sentences = rounded_up(batch.sentences + divided_up(most, out.longest));
    if (out.sentences - batch.sentences <= padding) return out;
    padding = out.sentences - batch.sentences;
  }
}

Batch padded(const Batch& batch, const BatchClass& to) {
  Batch out = batch;
  const int64_t sentences = to.sentences - batch.sentences;
  const int64_t source = to.source_rows - batch.source_tokens,
                target = to.target_rows - batch.target_tokens;
  add_sentences(out.source, sentences, source, to.longest, 0);
  add_sentences(out.target_in, sentences, target, to.longest, 0);
  add_sentences(out.target_out, sentences, target, to.longest, kNoTarget);
  return out;
}

}  // namespace attn
