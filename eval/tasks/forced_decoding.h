// Forced decoding (teacher forcing): batches of given pairs, and their log-probabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/ensemble.h"
#include "kernels/libtorch.h"
#include "model/segments.h"

namespace attn {

/// A source and a target to be scored, in tokens without BOS and EOS.
struct ScoredPair {
  std::vector<int32_t> source, target;
  std::vector<int32_t> features = {};  ///< source features (SourceFeatures::encode); empty: none
};

struct ForcedBatch {
  TokenSequences source;     ///< each ends with EOS
  TokenSequences target_in;  ///< each begins with BOS
  torch::Tensor targets_N;   ///< the token that follows each row of target_in; EOS at the end
};

ForcedBatch forced_batch(std::span<const ScoredPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device);

/// Encodes a source and a target line.
ScoredPair scored_pair(const Tokenizers& tokenizers, const std::string& source,
                       const std::string& target);

/// Where the lines of a pair are from, for messages.
struct PairPlaces {
  std::string source, target;
};

/// Throws DataError, starting with the line's place, if a side is too long for the models'
/// positions (Ensemble::max_length).
void require_fits(const ScoredPair& pair, std::optional<int64_t> positions,
                  const PairPlaces& places);

/// For each pair log p of every target token given the source and the tokens before; the last one
/// is EOS. In float32, by length, in batches of one pair or at most `batch_tokens` tokens: the sum
/// of the longer sides and EOS.
/// Sets the models to evaluation mode. Results do not depend on the batch, up to rounding.
std::vector<std::vector<float>> forced_log_probs(const Ensemble& models,
                                                 const Tokenizers& tokenizers,
                                                 std::span<const ScoredPair> pairs,
                                                 int64_t batch_tokens = 2048);

/// Σ log p of a target.
double total_log_prob(std::span<const float> log_probs);

}  // namespace attn
