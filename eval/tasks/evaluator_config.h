// What is measured, on which text and how often: the "eval" list of an experiment.
#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"
#include "eval/metrics/bleu.h"
#include "eval/search/config.h"

namespace attn {

enum class EvaluatorKind {
  loss,  ///< perplexity per token, without smoothing
  bleu,  ///< beam search, then BLEU against the target text
  parse  ///< beam search, then F1 against the trees
};

template <>
struct EnumNames<EvaluatorKind> {
  static constexpr auto values =
      std::to_array<EnumName<EvaluatorKind>>({{EvaluatorKind::loss, "loss"},
                                              {EvaluatorKind::bleu, "bleu"},
                                              {EvaluatorKind::parse, "parse"}});
};

struct EvaluatorConfig {
  std::string name = "valid";
  EvaluatorKind kind = EvaluatorKind::loss;
  std::string data;
  int64_t every = 1000;
  BleuTokenizer tokenize = BleuTokenizer::v13a;
  bool lowercase = false;
  std::string params;
  SearchConfig search;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "prefix of the results' names");
    visit("kind", self.kind, "loss: perplexity; bleu, parse: beam search, then BLEU or F1");
    visit("data", self.data, "text, named as data.train is; empty: data.valid");
    visit("every", self.every, "steps between two evaluations; 0: at the end alone");
    visit("tokenize", self.tokenize, "BLEU's tokenizer; none for text that is tokenised already");
    visit("lowercase", self.lowercase, "BLEU on lower-cased text");
    visit("params", self.params, "F1: an EVALB parameter file; empty: COLLINS.prm's settings");
    SearchConfig::fields(self.search, visit);
  }
  bool operator==(const EvaluatorConfig&) const = default;
  /// Throws ConfigError naming the first knob that contradicts itself.
  void validate() const;
};

/// How a BLEU evaluator scores.
BleuOptions bleu_options(const EvaluatorConfig& config);

}  // namespace attn
