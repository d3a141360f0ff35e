// The evaluator "loss": perplexity per token without label smoothing, EOS included, as in Table 3.
#pragma once

#include <memory>
#include <optional>

#include "data/config.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

struct LossEvaluation {
  static constexpr std::optional<Task> task = std::nullopt;  ///< any task
  static constexpr EvaluatorMetric metric = {.key = "ppl",
                                             .title = "PPL",
                                             .meaning = "perplexity per target token",
                                             .paper_decimals = 2,
                                             .lower_is_better = true};

  template <class Self, class Visit>
  static void fields(Self&, Visit&&) {}
  bool operator==(const LossEvaluation&) const = default;
  std::unique_ptr<Evaluator> make(const EvaluatorInput& input) const;
};

}  // namespace attn
