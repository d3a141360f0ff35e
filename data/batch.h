// Batches as ragged rows, without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"

namespace attn {

/// Concatenated token sequences; sentence i has lengths[i] tokens.
struct TokenRows {
  std::vector<int64_t> tokens;
  std::vector<int64_t> lengths;
  /// Source rows only: the features of all tokens (data/source_features.h), and where those of each
  /// token end; both empty if there are none.
  std::vector<int64_t> features = {}, feature_ends = {};
  int64_t longest() const;  ///< 0 without sentences
  bool operator==(const TokenRows&) const = default;
};

/// Appends the features of a sentence, SourceFeatures::encode, to its rows.
void append_features(std::span<const int32_t> features, TokenRows& rows);

/// Appends a source sentence: its tokens, EOS and its features, if any.
void append_source(std::span<const int32_t> tokens, int64_t eos, std::span<const int32_t> features,
                   TokenRows& rows);

/// A batch of sentence pairs.
struct Batch {
  /// Source tokens and EOS.
  TokenRows source;
  /// BOS and the target tokens: the decoder input.
  TokenRows target_in;
  /// Target tokens and EOS: the decoder targets.
  TokenRows target_out;
  int64_t sentences = 0;
  /// EOS included.
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  /// Indices of the pairs in the corpus.
  std::vector<int64_t> ids;

  bool operator==(const Batch&) const = default;
};

/// Splits a batch into at most `parts` non-empty batches of similar token counts, in order.
std::vector<Batch> split(const Batch& batch, int64_t parts);

/// The batch of the pairs `ids`, in that order.
Batch make_batch(const EncodedCorpus& corpus, std::span<const uint32_t> ids);

}  // namespace attn
