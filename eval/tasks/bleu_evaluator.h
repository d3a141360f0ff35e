// The evaluator "bleu": beam search, then BLEU against the target text.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/config.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/text_score.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct BleuEvaluation {
  static constexpr std::optional<Task> task = Task::translation;
  static constexpr EvaluatorMetric metric = {
      .key = "bleu", .title = "BLEU", .meaning = "BLEU, percent", .bootstrap = true};

  BleuTokenizer tokenize = BleuTokenizer::v13a;
  bool lowercase = false;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("tokenize", self.tokenize, "tokenizer of BLEU; none for tokenized text");
    visit("lowercase", self.lowercase, "lowercase before scoring");
  }
  bool operator==(const BleuEvaluation&) const = default;
  BleuOptions score_options() const { return {.tokenizer = tokenize, .lowercase = lowercase}; }
  /// Of one hypothesis per line; `references` has the target text.
  EvaluationResult score(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references) const {
    const BleuScore score = corpus_score(hypotheses, references, score_options());
    const auto ref_length = static_cast<double>(std::max<int64_t>(score.ref_length, 1));
    return {.values = {{"bleu", score.score},
                       {"bp", score.bp},
                       {"length_ratio", static_cast<double>(score.hyp_length) / ref_length}},
            .line = format_score(score),
            .signature = score.signature,
            .selection_metric = score.score};
  }
};

}  // namespace attn
