// The evaluator "contrastive": how often the model prefers the reference to wrong translations
// (Sennrich, 2017), by forced decoding.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "data/config.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct ContrastiveEvaluation {
  static constexpr std::optional<Task> task = Task::translation;
  static constexpr EvaluatorMetric metric = {
      .key = "contrastive",
      .title = "contrastive",
      .meaning =
          "sentences whose reference is more probable than every wrong translation, percent"};

  std::string wrong;
  bool per_token = false;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("wrong", self.wrong,
          "file of wrong translations, one line per sentence; several per sentence, separated by "
          "tabs");
    visit("per_token", self.per_token, "compare the mean log-probability per token, not the sum");
  }
  bool operator==(const ContrastiveEvaluation&) const = default;
  /// Throws ConfigError if `wrong` is empty.
  void validate() const {
    require(!wrong.empty(), "wrong", "\"\"", "must name the file of wrong translations");
  }
  std::vector<std::filesystem::path> files() const { return {wrong}; }
  std::unique_ptr<Evaluator> make(const EvaluatorInput& input) const;
};

}  // namespace attn
