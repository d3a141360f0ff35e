#include "eval/tasks/bleu_evaluator.h"

#include <algorithm>

#include "eval/tasks/translation_evaluator.h"

namespace attn {
namespace {

class BleuEvaluator final : public TranslationEvaluator {
 public:
  BleuEvaluator(const EvaluatorInput& input, const BleuEvaluation& options)
      : TranslationEvaluator(input, options.search), options_(options.bleu_options()) {}

 private:
  EvaluationResult score(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references) const override {
    const BleuScore score = corpus_bleu(hypotheses, references, options_);
    const auto ref_length = static_cast<double>(std::max<int64_t>(score.ref_length, 1));
    return {.values = {{"bleu", score.score},
                       {"bp", score.bp},
                       {"length_ratio", static_cast<double>(score.hyp_length) / ref_length}},
            .line = format_bleu(score),
            .signature = score.signature,
            .selection_metric = score.score};
  }

  BleuOptions options_;
};

}  // namespace

std::unique_ptr<Evaluator> BleuEvaluation::make(const EvaluatorInput& input) const {
  return std::make_unique<BleuEvaluator>(input, *this);
}

}  // namespace attn
