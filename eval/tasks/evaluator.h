// Evaluators: the "eval" list of an experiment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/config.h"
#include "data/tokenizer.h"
#include "eval/search/config.h"
#include "eval/search/ensemble.h"
#include "eval/tasks/evaluator_kind.h"

namespace attn {

/// Arguments of an evaluator.
struct EvaluatorInput {
  std::string name;      ///< name of the evaluator
  std::string text;      ///< prefix or file: the evaluator's own, or data.valid
  std::string text_key;  ///< evaluation_key() of it
  const DataConfig& data;
  const Tokenizers& tokenizers;
  SearchConfig search;
  const std::filesystem::path& cache;  ///< directory of encoded corpora
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  const std::string& name() const { return name_; }
  /// evaluation_key() of the files it has read.
  const std::string& text_key() const { return text_key_; }

  /// Throws every error that run() could throw independently of the weights; called before
  /// training.
  virtual void check(const Seq2SeqModel& model) const = 0;
  /// Evaluates a model or an ensemble; writes translations or trees to `output`, unless it is
  /// empty. Throws Stopped (base/stop_signal.h) at the next batch or position after a signal.
  virtual EvaluationResult run(const Ensemble& models,
                               const std::filesystem::path& output) const = 0;

 protected:
  explicit Evaluator(const EvaluatorInput& input) : name_(input.name), text_key_(input.text_key) {}

 private:
  std::string name_;
  std::string text_key_;
};

/// Writes translations or trees, unless the path is empty.
void write_evaluation_output(const std::filesystem::path& output, const std::string& text);

/// A note on truncated sentences for the log; empty if there are none.
std::string truncation_note(int64_t cut);

/// A note on outputs that ended at the length limit, for the log; empty if there are none.
std::string unfinished_note(int64_t unfinished, const std::string& noun);

}  // namespace attn
