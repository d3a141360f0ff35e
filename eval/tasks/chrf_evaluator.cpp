#include "eval/tasks/chrf_evaluator.h"

#include "eval/tasks/translation_evaluator.h"

namespace attn {
namespace {

class ChrfEvaluator final : public TranslationEvaluator {
 public:
  ChrfEvaluator(const EvaluatorInput& input, const ChrfEvaluation& options)
      : TranslationEvaluator(input, options.search), options_(options.chrf_options()) {}

 private:
  EvaluationResult score(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references) const override {
    const ChrfScore score = corpus_chrf(hypotheses, references, options_);
    return {.values = {{"chrf", score.score}},
            .line = format_chrf(score),
            .signature = score.signature,
            .selection_metric = score.score};
  }

  ChrfOptions options_;
};

}  // namespace

std::unique_ptr<Evaluator> ChrfEvaluation::make(const EvaluatorInput& input) const {
  return std::make_unique<ChrfEvaluator>(input, *this);
}

}  // namespace attn
