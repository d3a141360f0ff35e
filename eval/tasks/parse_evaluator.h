// The evaluator "parse": beam search, then labelled bracketing F1.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/config.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct ParseEvaluation {
  static constexpr std::optional<Task> task = Task::parsing;
  static constexpr EvaluatorMetric metric = {
      .key = "f1", .title = "F1", .meaning = "F1 of trees, percent", .bootstrap = true};

  std::string params;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("params", self.params, "EVALB parameter file; empty: the settings of COLLINS.prm");
  }
  bool operator==(const ParseEvaluation&) const = default;
  /// Files read besides the text.
  std::vector<std::filesystem::path> files() const {
    return params.empty() ? std::vector<std::filesystem::path>()
                          : std::vector<std::filesystem::path>{params};
  }
  std::unique_ptr<Evaluator> make(const EvaluatorInput& input) const;
};

}  // namespace attn
