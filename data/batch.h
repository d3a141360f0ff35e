// Sentences laid end to end, without padding: what the model is fed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"

namespace attn {

/// Token sequences end to end; lengths[i] of them belong to sentence i.
struct TokenRows {
  std::vector<int64_t> tokens;
  std::vector<int64_t> lengths;
  /// The second index of each token (data/token_counter.h); empty where there is none.
  std::vector<int64_t> second = {};
  int64_t longest() const;  ///< 0 without sentences
  bool operator==(const TokenRows&) const = default;
};

/// Sentence pairs that are trained on together.
struct Batch {
  /// Tokens and the end sign.
  TokenRows source;
  /// The start sign and the tokens: what the decoder reads.
  TokenRows target_in;
  /// Tokens and the end sign: what the decoder should say.
  TokenRows target_out;
  int64_t sentences = 0;
  /// With end signs.
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  /// Positions of the pairs in the corpus.
  std::vector<int64_t> ids;

  /// The share of positions, both sides together, that would be padding if every sentence were
  /// filled up to the longest of its side.
  double padding() const;
  bool operator==(const Batch&) const = default;
};

/// The batch's sentences in their order, cut into at most `parts` batches of about as many tokens,
/// none of them empty.
std::vector<Batch> split(const Batch& batch, int64_t parts);

/// The batch of the pairs `ids`, in that order.
Batch make_batch(const EncodedCorpus& corpus, std::span<const uint32_t> ids);

}  // namespace attn
