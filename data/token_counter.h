// The second position of target rows (model.word_positions, model.deterministic_attention): the
// number of counted tokens so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attn {

/// For a parser it counts the leaves, i.e. the words of the sentence covered so far. A decoder that
/// generates tags without words loses count of them otherwise.
class TokenCounter {
 public:
  /// Counts the tokens `counted` of a vocabulary of size `vocabulary`. Throws std::out_of_range for
  /// a token outside of it.
  TokenCounter(int64_t vocabulary, std::span<const int32_t> counted);

  /// The position of a row with `token` after a row with position `before` (0 at the start).
  int64_t next(int64_t before, int64_t token) const {
    return before + counts_[static_cast<size_t>(token)];
  }
  /// Appends the position of every row of one sequence.
  void append(std::span<const int64_t> tokens, std::vector<int64_t>& out) const;

 private:
  std::vector<uint8_t> counts_;  // by token, 0 or 1
};

}  // namespace attn
