// Named evaluators as the "eval" list of an experiment describes them: text in, (name, value) pairs
// out.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/batch.h"
#include "data/config.h"
#include "data/parsing/tree.h"
#include "data/tokenizer.h"
#include "eval/metrics/evalb_parameters.h"
#include "eval/tasks/evaluator_config.h"
#include "model/seq2seq.h"

namespace attn {

/// What one evaluation found. `values` are named without the instance's name.
struct EvaluationResult {
  std::vector<std::pair<std::string, double>> values;
  std::string line;       ///< for people
  std::string signature;  ///< of BLEU or F1; empty for perplexity
  double decisive = 0.0;  ///< perplexity, BLEU or strict F1: what "best" and patience look at
};

class Evaluation {
 public:
  /// Reads the text. Throws DataError for a missing or unusable file.
  Evaluation(const EvaluatorConfig& config, const DataConfig& data, const Tokenizers& tokenizers,
             const std::filesystem::path& cache);

  const EvaluatorConfig& config() const { return config_; }
  /// evaluation_key() of what it has read (app/experiment/text_keys.h).
  const std::string& text_key() const { return text_key_; }
  /// Throws what run() would throw whatever the weights: to be called before hours of training.
  void check(const Seq2SeqModel& model) const;
  /// Whether this value is better than that one: lower perplexity, higher BLEU or F1.
  bool better(double value, double than) const;
  /// Scores the model. Translations or trees are written to `output` (unless it is empty).
  EvaluationResult run(Seq2SeqModel& model, const std::filesystem::path& output) const;

 private:
  EvaluationResult run_loss(Seq2SeqModel& model) const;
  EvaluationResult run_bleu(Seq2SeqModel& model, const std::filesystem::path& output) const;
  EvaluationResult run_parse(Seq2SeqModel& model, const std::filesystem::path& output) const;

  EvaluatorConfig config_;
  std::string text_key_;
  Tokenizers tokenizers_;
  std::vector<Batch> batches_;             // of a loss evaluator
  int64_t left_out_ = 0;                   // pairs of its text that are in no batch
  std::vector<std::string> source_lines_;  // of a BLEU evaluator
  std::vector<std::string> target_lines_;
  std::vector<Tree> gold_trees_;  // of a parse evaluator, as_parsed(), as what follows
  EvalbParameters parse_parameters_;
  TreeForm tree_form_;
};

}  // namespace attn
