#include "app/evaluation.h"

#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "eval/bleu.h"
#include "eval/loss_evaluator.h"
#include "eval/translator.h"

namespace attn {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

}  // namespace

Evaluation::Evaluation(const EvaluatorConfig& config, const DataConfig& data,
                       const Tokenizers& tokenizers, const std::filesystem::path& cache)
    : config_(config), tokenizers_(tokenizers) {
  const std::string prefix = config.data.empty() ? data.valid : config.data;
  if (prefix.empty()) {
    throw ConfigError("eval: " + config.name + ": neither its data nor data.valid is set");
  }
  const std::string source = text_path(prefix, data.source),
                    target = text_path(prefix, data.target);
  switch (config.kind) {
    case EvaluatorKind::loss: {
      const EncodedCorpus corpus = load_corpus({.source = source,
                                                .target = target,
                                                .tokenizers = tokenizers,
                                                .max_length = 0,
                                                .cache_directory = cache});
      batches_ = sequential_batches(corpus, data.batch_tokens);
      break;
    }
    case EvaluatorKind::bleu:
      source_lines_ = read_lines(source);
      target_lines_ = read_lines(target);
      if (source_lines_.size() != target_lines_.size() || source_lines_.empty()) {
        throw DataError(source + " has " + std::to_string(source_lines_.size()) + " lines, " +
                        target + " " + std::to_string(target_lines_.size()) +
                        "; they must have the same number, more than 0");
      }
      break;
  }
}

bool Evaluation::better(double value, double than) const {
  switch (config_.kind) {
    case EvaluatorKind::loss:
      return value < than;
    case EvaluatorKind::bleu:
      return value > than;
  }
  return false;
}

EvaluationResult Evaluation::run(Transformer model, const std::filesystem::path& output) const {
  switch (config_.kind) {
    case EvaluatorKind::loss:
      return run_loss(model);
    case EvaluatorKind::bleu:
      return run_bleu(model, output);
  }
  return {};
}

EvaluationResult Evaluation::run_loss(Transformer model) const {
  const LossReport report = evaluate_loss(model, batches_);
  return {
      .values = {{"ppl", report.perplexity},
                 {"nll", report.likelihood},
                 {"accuracy", report.accuracy}},
      .line = format("perplexity %.3f  accuracy %.2f %%", report.perplexity, 100 * report.accuracy),
      .signature = "",
      .decisive = report.perplexity};
}

EvaluationResult Evaluation::run_bleu(Transformer model,
                                      const std::filesystem::path& output) const {
  Translator translator(model, tokenizers_, config_.search);
  std::vector<std::string> hypotheses;
  std::string text;
  for (const auto& nbest : translator.translate(source_lines_)) {
    hypotheses.push_back(nbest.front().text);
    text += hypotheses.back() + "\n";
  }
  if (!output.empty()) {
    std::filesystem::create_directories(output.parent_path());
    write_file_atomically(output, text);
  }
  const BleuOptions options{.tokenizer = config_.tokenize, .lowercase = config_.lowercase};
  const std::vector<std::vector<std::string>> references = {target_lines_};
  const BleuScore score = corpus_bleu(hypotheses, references, options);
  return {
      .values = {{"bleu", score.score},
                 {"bp", score.bp},
                 {"length_ratio", static_cast<double>(score.hyp_length) /
                                      static_cast<double>(std::max<int64_t>(score.ref_length, 1))}},
      .line = format_bleu(score),
      .signature = score.signature,
      .decisive = score.score};
}

}  // namespace attn
