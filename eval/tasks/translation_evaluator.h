// Base of evaluators that score the output of beam search.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "eval/search/config.h"
#include "eval/tasks/evaluator.h"

namespace attn {

class TranslationEvaluator : public Evaluator {
 public:
  void check(const Seq2SeqModel& model) const override;
  EvaluationResult run(const Ensemble& models, const std::filesystem::path& output) const override;

 protected:
  /// Throws DataError unless source and target text have the same number of lines, more than 0.
  TranslationEvaluator(const EvaluatorInput& input, const SearchConfig& search);

  /// Scores one hypothesis per line; `references` is the target text.
  virtual EvaluationResult score(std::span<const std::string> hypotheses,
                                 std::span<const std::vector<std::string>> references) const = 0;

 private:
  Tokenizers tokenizers_;
  SearchConfig search_;
  std::vector<std::string> sources_;
  std::vector<std::vector<std::string>> references_;
};

}  // namespace attn
