#include "eval/tasks/translation_evaluator.h"

#include "base/error.h"
#include "eval/tasks/translator.h"
#include "model/seq2seq.h"

namespace attn {

TranslationEvaluator::TranslationEvaluator(const EvaluatorInput& input, const SearchConfig& search)
    : Evaluator(input), tokenizers_(input.tokenizers), search_(search) {
  const std::string source = text_path(input.text, input.data.source);
  const std::string target = text_path(input.text, input.data.target);
  sources_ = read_utf8_lines(source);
  references_ = {read_utf8_lines(target)};
  const size_t lines = references_.front().size();
  if (sources_.size() == lines && lines > 0) return;
  throw DataError(source + " has " + std::to_string(sources_.size()) + " lines, " + target + " " +
                  std::to_string(lines) + "; expected the same number, at least 1");
}

void TranslationEvaluator::check(const Seq2SeqModel& model) const {
  model.require_weight_type(search_.weights);
}

EvaluationResult TranslationEvaluator::run(const Ensemble& models,
                                           const std::filesystem::path& output) const {
  Translator translator(models, tokenizers_, search_);
  std::vector<std::string> hypotheses;
  std::string text;
  for (const auto& nbest : translator.translate(sources_)) {
    hypotheses.push_back(nbest.front().text);
    text += hypotheses.back() + "\n";
  }
  write_evaluation_output(output, text);
  EvaluationResult result = score(hypotheses, references_);
  const int64_t cut = translator.cut_lines();
  result.values.emplace_back("cut", static_cast<double>(cut));
  result.values.emplace_back("unfinished", static_cast<double>(translator.unfinished()));
  result.line += truncation_note(cut) + unfinished_note(translator.unfinished(), "translation") +
                 unknown_suffix(translator.unknown(), "source");
  return result;
}

}  // namespace attn
