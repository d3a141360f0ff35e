#include "eval/tasks/ter_evaluator.h"

#include "eval/tasks/translation_evaluator.h"

namespace attn {
namespace {

class TerEvaluator final : public TranslationEvaluator {
 public:
  TerEvaluator(const EvaluatorInput& input, const TerEvaluation& options)
      : TranslationEvaluator(input, options.search), options_(options.ter) {}

 private:
  EvaluationResult score(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references) const override {
    const TerScore score = corpus_ter(hypotheses, references, options_);
    return {.values = {{"ter", score.score}},
            .line = format_ter(score),
            .signature = score.signature,
            .selection_metric = score.score};
  }

  TerOptions options_;
};

}  // namespace

std::unique_ptr<Evaluator> TerEvaluation::make(const EvaluatorInput& input) const {
  return std::make_unique<TerEvaluator>(input, *this);
}

}  // namespace attn
