// Pairs of sentences as tokens, and their batches for teacher forcing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "kernels/libtorch.h"
#include "model/segments.h"

namespace attn {

/// A source and a target to be scored, in tokens without BOS and EOS.
struct ForcedPair {
  std::vector<int32_t> source, target;
  std::vector<int32_t> features = {};  ///< source features (SourceFeatures::encode); empty: none
};

struct ForcedBatch {
  TokenSequences source;     ///< each ends with EOS
  TokenSequences target_in;  ///< each begins with BOS
  torch::Tensor targets_N;   ///< the token that follows each row of target_in; EOS at the end
};

ForcedBatch forced_batch(std::span<const ForcedPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device);

}  // namespace attn
