// Forced decoding: log-probabilities of given translations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/ensemble.h"
#include "eval/tasks/forced_batch.h"

namespace attn {

/// Encodes a source and a target line.
ForcedPair forced_pair(const Tokenizers& tokenizers, const std::string& source,
                       const std::string& target);

/// Where the lines of a pair are from, for messages.
struct PairPlaces {
  std::string source, target;
};

/// Throws DataError, starting with the line's place, if a side is too long for the models'
/// positions (Ensemble::max_length).
void require_fits(const ForcedPair& pair, std::optional<int64_t> positions,
                  const PairPlaces& places);

/// For each pair log p of every target token given the source and the tokens before; the last one
/// is EOS. In float32, by length, in batches of one pair or at most `batch_tokens` tokens: the sum
/// of the longer sides and EOS.
/// Sets the models to evaluation mode. Results do not depend on the batch, up to rounding.
std::vector<std::vector<float>> forced_log_probs(const Ensemble& models,
                                                 const Tokenizers& tokenizers,
                                                 std::span<const ForcedPair> pairs,
                                                 int64_t batch_tokens = 2048);

/// Σ log p of a target.
double total_log_prob(std::span<const float> log_probs);

}  // namespace attn
