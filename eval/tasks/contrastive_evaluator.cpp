#include "eval/tasks/contrastive_evaluator.h"

#include "base/error.h"
#include "base/format.h"
#include "data/lines.h"
#include "eval/tasks/evaluator.h"
#include "eval/tasks/forced_decoding.h"

namespace attn {
namespace {

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

class ContrastiveEvaluator final : public Evaluator {
 public:
  ContrastiveEvaluator(const EvaluatorInput& input, const ContrastiveEvaluation& options)
      : Evaluator(input), tokenizers_(input.tokenizers), per_token_(options.per_token) {
    const std::string source = text_path(input.text, input.data.source);
    const std::string target = text_path(input.text, input.data.target);
    const auto sources = read_utf8_lines(source), rights = read_utf8_lines(target);
    const auto wrongs = read_utf8_lines(options.wrong);
    if (sources.empty() || rights.size() != sources.size() || wrongs.size() != sources.size()) {
      throw DataError(source + " has " + std::to_string(sources.size()) + " lines, " + target +
                      " " + std::to_string(rights.size()) + ", " + options.wrong + " " +
                      std::to_string(wrongs.size()) + "; expected the same number, at least 1");
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      const std::string line = format(":%zu", i + 1);
      first_.push_back(pairs_.size());
      add(sources[i], rights[i], {source + line, target + line});
      for (const std::string& wrong : split_tabs(wrongs[i])) {
        add(sources[i], wrong, {source + line, options.wrong + line});
        const auto& tokens = pairs_.back().target;
        if (!tokens.empty() && tokens != pairs_[first_.back()].target) continue;
        throw DataError(options.wrong + line + ": \"" + wrong +
                        "\": a wrong translation must not be empty, and must differ from the "
                        "reference in its tokens (unknown words are one token)");
      }
    }
    first_.push_back(pairs_.size());
  }

  void check(const Seq2SeqModel& model) const override {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      require_fits(pairs_[i], model.max_length(), places_[i]);
    }
  }

  EvaluationResult run(const Ensemble& models, const std::filesystem::path&) const override {
    const auto log_probs = forced_log_probs(models, tokenizers_, pairs_);
    const auto value = [&](size_t pair) {
      const double sum = total_log_prob(log_probs[pair]);
      return per_token_ ? sum / static_cast<double>(log_probs[pair].size()) : sum;
    };
    const size_t sentences = first_.size() - 1;
    size_t right = 0;
    for (size_t i = 0; i < sentences; ++i) {
      bool best = true;
      for (size_t k = first_[i] + 1; k < first_[i + 1]; ++k) best &= value(k) < value(first_[i]);
      right += best;
    }
    const double accuracy = 100.0 * static_cast<double>(right) / static_cast<double>(sentences);
    return {.values = {{"contrastive", accuracy}},
            .line = format("contrastive accuracy %.2f %% (%zu of %zu sentences)", accuracy, right,
                           sentences),
            .signature = "",
            .selection_metric = accuracy};
  }

 private:
  void add(const std::string& source, const std::string& target, PairPlaces places) {
    pairs_.push_back(scored_pair(tokenizers_, source, target));
    places_.push_back(std::move(places));
  }

  Tokenizers tokenizers_;
  bool per_token_;
  std::vector<ScoredPair> pairs_;   // for each sentence: the reference, then the wrong translations
  std::vector<PairPlaces> places_;  // one per pair
  std::vector<size_t> first_;       // pair of each sentence, and the end
};

}  // namespace

std::unique_ptr<Evaluator> ContrastiveEvaluation::make(const EvaluatorInput& input) const {
  return std::make_unique<ContrastiveEvaluator>(input, *this);
}

}  // namespace attn
