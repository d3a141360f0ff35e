// Translation pipeline: tokenizer, encoder, search, tokenizer.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/batched_search.h"
#include "eval/search/beam_search.h"
#include "eval/search/ensemble.h"
#include "eval/tasks/minimum_bayes_risk.h"

namespace attn {

/// Limits of batches and inputs.
struct TranslatorLimits {
  int64_t batch_tokens = 2048;  ///< maximum of sentences × longest source × hypotheses per batch
  int64_t max_source = 1024;    ///< in tokens; longer sentences are truncated
};

/// Counts of lines so far.
struct TranslatorCounts {
  int64_t lines = 0;
  int64_t cut = 0;         ///< truncated to max_source
  int64_t first_cut = 0;   ///< the first of them, from 1; 0: none
  int64_t unfinished = 0;  ///< whose best translation ends at the length limit, without EOS
  UnknownTokens unknown;   ///< of the source
};

class Translator {
 public:
  /// Uses the current weights of the models, which must outlive this. translate() sets them to
  /// evaluation mode.
  Translator(Ensemble models, Tokenizers tokenizers, SearchConfig search,
             TranslatorLimits limits = {});

  /// Exactly search.nbest translations per line, in order; missing ones are empty with score -inf.
  /// Lines are batched by length. A blank line gives an empty translation. No translation contains
  /// a line end. Samples depend on the number of the line among all lines so far. `prefixes`: the
  /// beginnings of the translations, in whole words, one for each line, or empty; they count in
  /// log-probability, length and limits, and a blank line's is ignored. Throws DataError for one
  /// beyond the models' positions.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> lines,
                                                  std::span<const std::string> prefixes = {});

  const TranslatorLimits& limits() const { return limits_; }
  const TranslatorCounts& counts() const { return counts_; }

 private:
  /// Sets the features of `how`, too.
  std::vector<std::vector<int32_t>> encode(std::span<const std::string> lines, BatchedSearch& how);
  void force(std::span<const std::string> prefixes, BatchedSearch& how);
  std::vector<Translation> chosen(std::vector<Hypothesis> found) const;

  Ensemble models_;
  Tokenizers tokenizers_;
  SearchConfig search_;
  TranslatorLimits limits_;
  std::shared_ptr<const InferenceModel> inference_;
  TranslatorCounts counts_;
  TokenMask new_words_;  ///< target tokens that continue no word, for prefixes; empty until needed
};

}  // namespace attn
