// BLEU without heads: one at a time, and in order of importance (Michel et al. 2019).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "eval/metrics/bleu.h"
#include "eval/search/config.h"
#include "model/attention_heads.h"
#include "model/seq2seq.h"

namespace attn {

struct PrunedScore {
  int64_t masked = 0;  ///< heads
  double bleu = 0.0;
};

struct AblatedScore {
  HeadId head;
  double difference = 0.0;  ///< BLEU without the head minus BLEU of the whole model
  double p_value = 1.0;     ///< paired bootstrap test
};

/// Translates a data set with heads masked.
class HeadPruning {
 public:
  /// The model must outlive this. Expects a reference for each source, and at least one.
  HeadPruning(Seq2SeqModel& model, Tokenizers tokenizers, const SearchConfig& search,
              std::vector<std::string> sources, std::vector<std::string> references,
              const BleuOptions& bleu = {});

  /// Called before each translation of the data set; empty: not reported.
  std::function<void(const std::string&)> log;

  /// BLEU without the first tenth, two tenths, … of `order`, and of the whole model first. All
  /// heads are masked in the end.
  std::vector<PrunedScore> curve(std::span<const HeadId> order);
  /// Each head alone, against the whole model.
  std::vector<AblatedScore> ablation(std::span<const HeadId> heads);

 private:
  std::vector<BleuStatistics> without(std::span<const HeadId> heads, const std::string& what);

  Seq2SeqModel& model_;
  Tokenizers tokenizers_;
  SearchConfig search_;
  std::vector<std::string> sources_;
  std::vector<std::vector<std::string>> references_;
  BleuOptions bleu_;
};

}  // namespace attn
