// The evaluator "bleu": beam search, then BLEU against the target text.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "data/config.h"
#include "eval/metrics/bleu.h"
#include "eval/search/config.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct BleuEvaluation {
  static constexpr std::optional<Task> task = Task::translation;
  static constexpr EvaluatorMetric metric = {.key = "bleu",
                                             .title = "BLEU",
                                             .name = "BLEU",
                                             .heading = "BLEU",
                                             .meaning = "BLEU, percent",
                                             .bootstrap = true};

  BleuTokenizer tokenize = BleuTokenizer::v13a;
  bool lowercase = false;
  SearchConfig search;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("tokenize", self.tokenize, "tokenizer of BLEU; none for tokenized text");
    visit("lowercase", self.lowercase, "lowercase before scoring");
    SearchConfig::fields(self.search, visit);
  }
  bool operator==(const BleuEvaluation&) const = default;
  void validate() const { search.validate(); }
  std::vector<std::filesystem::path> files() const { return {}; }
  BleuOptions bleu_options() const { return {.tokenizer = tokenize, .lowercase = lowercase}; }
  std::unique_ptr<Evaluator> make(const EvaluatorInput& input) const;
};

}  // namespace attn
