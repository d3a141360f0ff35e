// Beam search over many sentences of different lengths: sorted, cut into batches, put back into
// order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "model/seq2seq.h"

namespace attn {

/// One batch as beam search gets it: which sentences it holds and how long their outputs may be.
struct SearchBatch {
  std::vector<size_t> members;
  std::vector<int64_t> limits;  ///< in tokens, eos counted
};

struct BatchedSearch {
  SearchConfig search;
  /// Of the model that is searched with (Seq2SeqModel::inference).
  std::shared_ptr<const InferenceModel> inference;
  int64_t batch_tokens = 2048;  ///< sentences × longest source × beam, at most, in a thread's batch
  /// The fewest tokens, eos counted, that each sentence's output must be allowed; empty: no demand.
  std::vector<int64_t> least_limits;
  /// Makes a batch's constraint, on any thread; empty: none.
  std::function<std::unique_ptr<TokenConstraint>(const SearchBatch&)> constraint;
};

/// n-best hypotheses of every source (tokens without eos), in their order; none for a source
/// without tokens. On a CPU each of torch's threads searches in batches of its own. The model is
/// put into evaluation mode. Where positions end, so do outputs; no sentence shortens another one.
std::vector<std::vector<Hypothesis>> batched_search(Seq2SeqModel& model,
                                                    const Tokenizers& tokenizers,
                                                    std::span<const std::vector<int32_t>> sources,
                                                    const BatchedSearch& how);

/// Makes a sentence's list exactly `nbest` long. What search did not find (few continuations, a
/// tight limit, no input) follows as empty hypotheses of log-probability -inf, so that the lists of
/// a text stay aligned with its lines.
void fill_nbest(std::vector<Hypothesis>& found, int64_t nbest);

}  // namespace attn
