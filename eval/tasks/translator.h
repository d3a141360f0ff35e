// From text to text: tokenizer, encoder, beam search, tokenizer.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/beam_search.h"
#include "model/seq2seq.h"

namespace attn {

struct Translation {
  std::string text;
  double score = 0.0;  ///< length-penalised log-probability
  double log_prob = 0.0;
  bool finished = false;  ///< false: cut at the length limit
};

/// What Translator does in one batch and with hopeless input.
struct TranslatorLimits {
  int64_t batch_tokens = 2048;  ///< sentences × longest source × beam, at most, in one batch
  int64_t max_source = 1024;    ///< a longer sentence is cut to so many tokens, and counted
};

class Translator {
 public:
  /// Translates with the model's weights as they are now; the model must outlive this. translate()
  /// puts the model into evaluation mode.
  Translator(Seq2SeqModel& model, Tokenizers tokenizers, SearchConfig search,
             TranslatorLimits limits = {});

  /// Exactly search.nbest translations of every line, in the order of the lines; those that search
  /// did not find are empty texts with score -inf. Lines are batched by length. An empty line (or
  /// one of blanks alone) translates to an empty text. No text holds a line end.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> lines);

  const TranslatorLimits& limits() const { return limits_; }
  /// Sentences cut to max_source so far.
  int64_t cut_lines() const { return cut_lines_; }

 private:
  std::vector<std::vector<int32_t>> encode(std::span<const std::string> lines);

  Seq2SeqModel& model_;
  Tokenizers tokenizers_;
  SearchConfig search_;
  TranslatorLimits limits_;
  std::shared_ptr<const InferenceModel> inference_;
  int64_t cut_lines_ = 0;
};

}  // namespace attn
