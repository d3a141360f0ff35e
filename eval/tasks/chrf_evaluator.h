// The evaluator "chrf": beam search, then chrF against the target text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/config.h"
#include "eval/metrics/chrf.h"
#include "eval/metrics/text_score.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct ChrfEvaluation {
  static constexpr std::optional<Task> task = Task::translation;
  static constexpr EvaluatorMetric metric = {
      .key = "chrf", .title = "chrF", .meaning = "chrF, percent", .bootstrap = true};

  int64_t word_order = 0;
  bool lowercase = false;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("word_order", self.word_order, "word n-gram order: 0 is chrF2, 2 is chrF2++");
    visit("lowercase", self.lowercase, "lowercase before scoring");
  }
  bool operator==(const ChrfEvaluation&) const = default;
  ChrfOptions score_options() const { return {.word_order = word_order, .lowercase = lowercase}; }
  void validate() const { score_options().validate(); }
  EvaluationResult score(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references) const {
    const ChrfScore score = corpus_score(hypotheses, references, score_options());
    return {.values = {{"chrf", score.score}},
            .line = format_score(score),
            .signature = score.signature,
            .selection_metric = score.score};
  }
};

}  // namespace attn
