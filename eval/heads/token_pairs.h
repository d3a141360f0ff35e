// Pairs of sentences as tokens, and their batches for teacher forcing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "kernels/libtorch.h"
#include "model/segments.h"

namespace attn {

/// A source and a target, without BOS and EOS.
struct TokenPair {
  std::vector<int32_t> source, target;
};

struct ForcedBatch {
  TokenSequences source;     ///< each ends with EOS
  TokenSequences target_in;  ///< each begins with BOS
  torch::Tensor targets_N;   ///< the token that follows each row of target_in; EOS at the end
};

ForcedBatch forced_batch(std::span<const TokenPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device);

/// Sizes of consecutive batches of at most `tokens` padded tokens, or of one pair.
std::vector<size_t> batch_sizes(std::span<const TokenPair> pairs, int64_t tokens);

}  // namespace attn
