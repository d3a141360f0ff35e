// Search over many sentences: sorted by length, batched, and returned in the original order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/beam_search.h"
#include "eval/search/ensemble.h"
#include "eval/search/token_constraint.h"

namespace attn {

/// A source sentence as the encoder reads it.
struct SourceSentence {
  std::vector<int32_t> tokens;         ///< without EOS
  std::vector<int32_t> features = {};  ///< SourceFeatures::encode; empty: the model has none
  bool truncated = false;              ///< to max_tokens
};

/// Encodes a line and keeps its first max_tokens tokens.
SourceSentence encode_source(const Tokenizers& tokenizers, const std::string& line,
                             int64_t max_tokens);

/// One batch: the indices of its sentences and the length limits of their outputs.
struct SearchBatch {
  std::vector<size_t> members;
  std::vector<int64_t> limits;  ///< in tokens, EOS included
};

struct BatchedSearch {
  SearchConfig search;
  /// The models, prepared for search (Ensemble::inference).
  std::shared_ptr<const InferenceModel> inference;
  /// Maximum of sentences × longest source × hypotheses in a batch; 16 times as many on a GPU.
  int64_t batch_tokens = 2048;
  /// Index of the first source in the whole input, which determines its samples.
  int64_t first_sentence = 0;
  /// The features of each source (SourceFeatures::encode); empty: none.
  std::vector<std::vector<int32_t>> features = {};
  /// Lower bounds of the length limits per sentence, EOS included; may be empty.
  std::vector<int64_t> min_limits = {};
  /// Creates the constraint of a batch, on any thread; empty: no constraint.
  std::function<std::unique_ptr<TokenConstraint>(const SearchBatch&)> constraint = {};
};

/// n-best hypotheses of every source (tokens without EOS), in order; none for an empty source. On a
/// CPU torch's threads search separate batches. Sets the models to evaluation mode. Outputs are
/// limited to the models' positions; the limit of a sentence does not depend on its batch, nor do
/// its samples, up to rounding.
std::vector<std::vector<Hypothesis>> batched_search(const Ensemble& models,
                                                    const Tokenizers& tokenizers,
                                                    std::span<const std::vector<int32_t>> sources,
                                                    const BatchedSearch& how);

/// Pads an n-best list to exactly `nbest` entries with empty hypotheses of log-probability -inf, so
/// that n-best lists stay aligned with the input.
void fill_nbest(std::vector<Hypothesis>& found, int64_t nbest);

}  // namespace attn
