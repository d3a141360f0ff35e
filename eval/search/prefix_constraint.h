// Outputs that begin with given tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/search/token_constraint.h"

namespace attn {

/// Forces the first tokens of each sentence's outputs. Their log-probabilities are part of the
/// output's, as those of tokens that search chose.
class PrefixConstraint : public TokenConstraint {
 public:
  /// `prefixes`: of each sentence of the batch, without BOS; may be empty. `classes`: size of the
  /// vocabulary.
  PrefixConstraint(std::vector<std::vector<int32_t>> prefixes, int64_t classes);

  std::span<const uint64_t* const> step(std::span<const int64_t> parents,
                                        std::span<const int32_t> tokens,
                                        std::span<const int64_t> sentences) override;

 private:
  std::vector<std::vector<int32_t>> prefixes_;
  std::vector<TokenMask> forced_;  // of each sentence, at the current step
  TokenMask all_;
  std::vector<const uint64_t*> rows_;
  size_t length_ = 0;  // of the outputs before the next step
};

}  // namespace attn
