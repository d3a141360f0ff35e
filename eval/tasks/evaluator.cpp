#include "eval/tasks/evaluator.h"

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/parsing/treebank.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/parse_score.h"
#include "eval/tasks/evaluation_key.h"
#include "eval/tasks/loss_evaluator.h"
#include "eval/tasks/parser.h"
#include "eval/tasks/translator.h"

namespace attn {
namespace {

/// The files of a loss or BLEU evaluator; of trees, the text made from them.
std::pair<std::string, std::string> text_files(const std::string& name, const DataConfig& data,
                                               const Tokenizers& tokenizers,
                                               const std::filesystem::path& cache) {
  if (data.task == Task::translation) {
    return {text_path(name, data.source), text_path(name, data.target)};
  }
  const LabelSet labels = vocabulary_labels(*tokenizers.target, data.tree_form);
  const std::string prefix = tree_text(name, data, labels, cache);
  return {text_path(prefix, kWordsSuffix), text_path(prefix, kSymbolsSuffix)};
}

void write_output(const std::filesystem::path& output, const std::string& text) {
  if (output.empty()) return;
  std::filesystem::create_directories(output.parent_path());
  write_file_atomically(output, text);
}

// Sentences that were scored as if whole.
std::string cut_text(int64_t cut) {
  return cut == 0 ? "" : "  (" + std::to_string(cut) + " sentences too long for the model, cut)";
}

// Pairs of lines that have no loss.
std::string left_out_text(int64_t pairs) {
  return pairs == 0 ? ""
                    : format("  (left out, as empty, overlong or not UTF-8: %lld of its pairs)",
                             static_cast<long long>(pairs));
}

}  // namespace

Evaluation::Evaluation(const EvaluatorConfig& config, const DataConfig& data,
                       const Tokenizers& tokenizers, const std::filesystem::path& cache)
    : config_(config), tokenizers_(tokenizers), tree_form_(data.tree_form) {
  const std::string prefix = config.data.empty() ? data.valid : config.data;
  if (prefix.empty()) {
    throw ConfigError("eval: " + config.name + ": neither its data nor data.valid is set");
  }
  TextHashes hashes;
  text_key_ = evaluation_key(config, data, hashes);
  switch (config.kind) {
    case EvaluatorKind::loss: {
      const auto [source, target] = text_files(prefix, data, tokenizers, cache);
      const EncodedCorpus corpus = load_corpus({.source = source,
                                                .target = target,
                                                .tokenizers = tokenizers,
                                                .max_length = 0,
                                                .cache_directory = cache});
      batches_ = sequential_batches(corpus, data.batch_tokens);
      left_out_ = corpus.report().lines - corpus.report().kept();
      break;
    }
    case EvaluatorKind::bleu: {
      const auto [source, target] = text_files(prefix, data, tokenizers, cache);
      source_lines_ = read_lines(source);
      target_lines_ = read_lines(target);
      if (source_lines_.size() != target_lines_.size() || source_lines_.empty()) {
        throw DataError(source + " has " + std::to_string(source_lines_.size()) + " lines, " +
                        target + " " + std::to_string(target_lines_.size()) +
                        "; they must have the same number, more than 0");
      }
      break;
    }
    case EvaluatorKind::parse:
      gold_trees_ = read_trees(prefix, tree_options(data));
      for (Tree& tree : gold_trees_) tree = as_parsed(std::move(tree));
      if (gold_trees_.empty()) throw DataError(prefix + ": holds no trees");
      TreeVocabulary(*tokenizers.target, data.tree_form);  // refuses now what search would refuse
      parse_parameters_ =
          config.params.empty() ? collins_parameters() : read_evalb_parameters(config.params);
      break;
  }
}

void Evaluation::check(const Seq2SeqModel& model) const {
  switch (config_.kind) {
    case EvaluatorKind::loss:
      if (const auto positions = model.max_length()) {
        int64_t longest = 0;
        for (const Batch& batch : batches_) {
          longest = std::max({longest, batch.source.longest(), batch.target_in.longest()});
        }
        if (longest > *positions) {
          throw DataError("eval: " + config_.name + ": a sentence of " + std::to_string(longest) +
                          " tokens, EOS counted, and positions end at " +
                          std::to_string(*positions) + "; raise model.max_positions");
        }
      }
      return;
    case EvaluatorKind::parse:
      require_known_tags(config_.search, tokenizers_);
      [[fallthrough]];
    case EvaluatorKind::bleu:
      model.require_backend(config_.search.backend());
      return;
  }
}

bool Evaluation::better(double value, double than) const {
  switch (config_.kind) {
    case EvaluatorKind::loss:
      return value < than;
    case EvaluatorKind::bleu:
    case EvaluatorKind::parse:
      return value > than;
  }
  return false;
}

EvaluationResult Evaluation::run(Seq2SeqModel& model, const std::filesystem::path& output) const {
  switch (config_.kind) {
    case EvaluatorKind::loss:
      return run_loss(model);
    case EvaluatorKind::bleu:
      return run_bleu(model, output);
    case EvaluatorKind::parse:
      return run_parse(model, output);
  }
  return {};
}

EvaluationResult Evaluation::run_loss(Seq2SeqModel& model) const {
  const LossReport report = evaluate_loss(model, batches_);
  return {.values = {{"ppl", report.perplexity},
                     {"nll", report.nll},
                     {"accuracy", report.accuracy},
                     {"left_out", static_cast<double>(left_out_)}},
          .line = format("perplexity %.3f  accuracy %.2f %%", report.perplexity,
                         100 * report.accuracy) +
                  left_out_text(left_out_),
          .signature = "",
          .decisive = report.perplexity};
}

EvaluationResult Evaluation::run_bleu(Seq2SeqModel& model,
                                      const std::filesystem::path& output) const {
  Translator translator(model, tokenizers_, config_.search);
  std::vector<std::string> hypotheses;
  std::string text;
  for (const auto& nbest : translator.translate(source_lines_)) {
    hypotheses.push_back(nbest.front().text);
    text += hypotheses.back() + "\n";
  }
  write_output(output, text);
  const int64_t cut = translator.cut_lines();
  const BleuOptions options = bleu_options(config_);
  const std::vector<std::vector<std::string>> references = {target_lines_};
  const BleuScore score = corpus_bleu(hypotheses, references, options);
  return {
      .values = {{"bleu", score.score},
                 {"bp", score.bp},
                 {"length_ratio", static_cast<double>(score.hyp_length) /
                                      static_cast<double>(std::max<int64_t>(score.ref_length, 1))},
                 {"cut", static_cast<double>(cut)}},
      .line = format_bleu(score) + cut_text(cut),
      .signature = score.signature,
      .decisive = score.score};
}

EvaluationResult Evaluation::run_parse(Seq2SeqModel& model,
                                       const std::filesystem::path& output) const {
  std::vector<std::vector<std::string>> sentences;
  for (const Tree& tree : gold_trees_) sentences.push_back(tree_words(tree));
  Parser parser(model, tokenizers_, tree_form_, config_.search);
  std::vector<Tree> trees;
  std::string text;
  for (auto& nbest : parser.parse(sentences)) {
    trees.push_back(std::move(nbest.front().tree));
    text += write_tree(trees.back()) + "\n";
  }
  write_output(output, text);
  // Both sides in the model's convention, so that the treebank's outer bracket decides nothing.
  const ParseScore score = score_parses(gold_trees_, trees, parse_parameters_);
  const auto repaired = static_cast<double>(parser.counts().repaired);
  return {.values = {{"f1", score.all.f1()},
                     {"recall", score.all.recall()},
                     {"precision", score.all.precision()},
                     {"strict_f1", score.strict.f1()},
                     {"complete", score.all.complete_match()},
                     {"tagging", score.all.tagging()},
                     {"errors", static_cast<double>(score.all.errors)},
                     {"repaired", repaired},
                     {"cut", static_cast<double>(parser.counts().cut)}},
          .line = format("F1 %.2f (recall %.2f, precision %.2f)  strict F1 %.2f  complete %.2f %%  "
                         "mismatched %lld  malformed and repaired %.0f of %zu",
                         score.all.f1(), score.all.recall(), score.all.precision(),
                         score.strict.f1(), score.all.complete_match(),
                         static_cast<long long>(score.mismatched), repaired, trees.size()) +
                  cut_text(parser.counts().cut),
          .signature = score.signature,
          .decisive = score.strict.f1()};
}

}  // namespace attn
