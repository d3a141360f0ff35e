// The evaluator "ter": search, then translation edit rate against the target text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/config.h"
#include "eval/metrics/ter.h"
#include "eval/metrics/text_score.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct TerEvaluation {
  static constexpr std::optional<Task> task = Task::translation;
  static constexpr EvaluatorMetric metric = {.key = "ter",
                                             .title = "TER",
                                             .meaning = "TER, percent",
                                             .bootstrap = true,
                                             .lower_is_better = true};

  TerOptions ter;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("case_sensitive", self.ter.case_sensitive, "do not lowercase before scoring");
    visit("normalized", self.ter.normalized,
          "tokenize punctuation and XML entities as Tercom does");
    visit("no_punct", self.ter.no_punct, "remove punctuation");
    visit("asian_support", self.ter.asian_support,
          "with normalized or no_punct: also Chinese and Japanese characters and punctuation");
  }
  const TerOptions& score_options() const { return ter; }
  void validate() const { ter.validate(); }
  bool operator==(const TerEvaluation&) const = default;
  EvaluationResult score(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references) const {
    const TerScore score = corpus_score(hypotheses, references, score_options());
    return {.values = {{"ter", score.score}},
            .line = format_score(score),
            .signature = score.signature,
            .selection_metric = score.score};
  }
};

}  // namespace attn
