// What is measured, on which text and how often: the "eval" list of an experiment.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "base/enum_names.h"
#include "data/config.h"
#include "eval/tasks/bleu_evaluator.h"
#include "eval/tasks/chrf_evaluator.h"
#include "eval/tasks/loss_evaluator.h"
#include "eval/tasks/parse_evaluator.h"

namespace attn {

/// In the order of EvaluatorConfig's alternatives, which is that of a report's columns.
enum class EvaluatorKind { loss, chrf, bleu, parse };

template <>
struct EnumNames<EvaluatorKind> {
  static constexpr auto values =
      std::to_array<EnumName<EvaluatorKind>>({{EvaluatorKind::loss, "loss"},
                                              {EvaluatorKind::chrf, "chrf"},
                                              {EvaluatorKind::bleu, "bleu"},
                                              {EvaluatorKind::parse, "parse"}});
};

/// A union tagged by "kind". Each alternative is a config struct that also declares the `task` that
/// it is for (nothing: any), the `metric` that it finds, the `files()` that it reads beside its
/// text, and how to make() its evaluator.
struct EvaluatorConfig {
  static constexpr const char* kTag = "kind";
  using Options = std::variant<LossEvaluation, ChrfEvaluation, BleuEvaluation, ParseEvaluation>;

  std::string name = "valid";
  std::string data;
  int64_t every = 1000;
  Options options;

  EvaluatorKind kind() const { return static_cast<EvaluatorKind>(options.index()); }
  /// The options of a kind that is known to be the chosen one.
  template <class Chosen>
  const Chosen& get() const {
    return std::get<Chosen>(options);
  }

  /// How it searches; null for a kind that does not.
  SearchConfig* search();
  const SearchConfig* search() const;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "prefix of the results' names");
    EvaluatorKind kind = self.kind();
    visit("kind", kind, "loss: perplexity; others: beam search, then a score of its output");
    if constexpr (!std::is_const_v<Self>) self.choose(kind);
    visit("data", self.data, "text, named as data.train is; empty: data.valid");
    visit("every", self.every, "steps between two evaluations; 0: at the end alone");
    std::visit([&](auto& chosen) { chosen.fields(chosen, visit); }, self.options);
  }
  bool operator==(const EvaluatorConfig&) const = default;

  /// Takes the defaults of another kind; keeps the options where it is the same.
  void choose(EvaluatorKind kind);
  /// Throws ConfigError naming the first option that contradicts itself.
  void validate() const;
  /// Throws ConfigError where the kind is for another task.
  void require_task(Task task) const;
};

}  // namespace attn
