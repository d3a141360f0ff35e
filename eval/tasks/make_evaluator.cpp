#include "eval/tasks/make_evaluator.h"

#include <functional>
#include <span>

#include "base/error.h"
#include "data/lines.h"
#include "data/source_features.h"
#include "data/text_hashes.h"
#include "eval/tasks/translator.h"
#include "model/seq2seq.h"

namespace attn {
namespace {

/// Scores the output of search: for options with score().
class TranslationEvaluator final : public Evaluator {
 public:
  /// Throws DataError unless source and target text have the same number of lines, more than 0.
  template <class Options>
  TranslationEvaluator(const EvaluatorInput& input, const Options& options)
      : Evaluator(input),
        tokenizers_(input.tokenizers),
        search_(input.search),
        score_([options](const auto& hypotheses, const auto& references) {
          return options.score(hypotheses, references);
        }) {
    const std::string source = text_path(input.text, input.data.source);
    const std::string target = text_path(input.text, input.data.target);
    sources_ = read_utf8_lines(source);
    references_ = {read_utf8_lines(target)};
    const size_t lines = references_.front().size();
    if (sources_.size() == lines && lines > 0) return;
    throw DataError(source + " has " + std::to_string(sources_.size()) + " lines, " + target + " " +
                    std::to_string(lines) + "; expected the same number, at least 1");
  }

  void check(const Seq2SeqModel& model) const override {
    model.require_weight_type(search_.weights);
  }

  EvaluationResult run(const Ensemble& models, const std::filesystem::path& output) const override {
    Translator translator(models, tokenizers_, search_);
    std::vector<std::string> hypotheses;
    std::string text;
    for (const auto& nbest : translator.translate(sources_)) {
      hypotheses.push_back(nbest.front().text);
      text += hypotheses.back() + "\n";
    }
    write_evaluation_output(output, text);
    EvaluationResult result = score_(hypotheses, references_);
    const int64_t cut = translator.counts().cut;
    result.values.emplace_back("cut", static_cast<double>(cut));
    result.values.emplace_back("unfinished", static_cast<double>(translator.counts().unfinished));
    result.line += truncation_note(cut) +
                   unfinished_note(translator.counts().unfinished, "translation") +
                   unknown_suffix(translator.counts().unknown, "source");
    return result;
  }

 private:
  Tokenizers tokenizers_;
  SearchConfig search_;
  std::function<EvaluationResult(std::span<const std::string>,
                                 std::span<const std::vector<std::string>>)>
      score_;
  std::vector<std::string> sources_;
  std::vector<std::vector<std::string>> references_;
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const EvaluatorConfig& config, const SearchConfig& search,
                                          const DataConfig& data, const Tokenizers& tokenizers,
                                          const std::filesystem::path& cache) {
  config.require_text(data);
  const std::string text = config.text(data);
  const Tokenizers tagged = with_tag(tokenizers, config.tag.empty() ? data.tag : config.tag,
                                     "eval: " + config.name + ".tag");
  TextHashes hashes;
  const EvaluatorInput input{.name = config.name,
                             .text = text,
                             .text_key = evaluation_key(config, data, hashes),
                             .data = data,
                             .tokenizers = tagged,
                             .search = config.search_over(search),
                             .cache = cache};
  return std::visit(
      [&]<class Options>(const Options& chosen) -> std::unique_ptr<Evaluator> {
        if constexpr (requires { &Options::score; }) {
          return std::make_unique<TranslationEvaluator>(input, chosen);
        } else {
          return chosen.make(input);
        }
      },
      config.options);
}

}  // namespace attn
