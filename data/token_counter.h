// A second index for the rows of a sequence: how many tokens of a set it has so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attn {

/// For the target of a parser it counts the leaves, that is the words of the sentence that the tree
/// has so far, since a decoder that writes tags without words loses count of them.
class TokenCounter {
 public:
  /// Counts `counted` tokens of a vocabulary of so many. Throws std::out_of_range for a token
  /// outside it.
  TokenCounter(int64_t vocabulary, std::span<const int32_t> counted);

  /// The index of a row with `token` after one with index `before` (0 at the start of a sequence).
  int64_t next(int64_t before, int64_t token) const {
    return before + counts_[static_cast<size_t>(token)];
  }
  /// Appends the index of every row of one sequence.
  void append(std::span<const int64_t> tokens, std::vector<int64_t>& out) const;

 private:
  std::vector<uint8_t> counts_;  // by token, 0 or 1
};

}  // namespace attn
