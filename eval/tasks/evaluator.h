// Evaluators as the "eval" list of an experiment describes them: text in, (name, value) pairs out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/config.h"
#include "data/tokenizer.h"

namespace attn {

class Seq2SeqModel;

/// What one evaluation found. `values` are named without the instance's name.
struct EvaluationResult {
  std::vector<std::pair<std::string, double>> values;
  std::string line;       ///< for people
  std::string signature;  ///< of a score that has one; empty for perplexity
  double decisive = 0.0;  ///< the value that "best" and patience look at
};

/// What an evaluator is made of.
struct EvaluatorInput {
  std::string name;      ///< prefix of the results' names
  int64_t every = 0;     ///< steps between two evaluations; 0: at the end alone
  std::string text;      ///< prefix or file: the evaluator's own, or data.valid
  std::string text_key;  ///< evaluation_key() of it
  const DataConfig& data;
  const Tokenizers& tokenizers;
  const std::filesystem::path& cache;  ///< where encoded texts are kept
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  const std::string& name() const { return name_; }
  /// Steps between two evaluations; 0: at the end alone.
  int64_t every() const { return every_; }
  /// evaluation_key() of what it has read.
  const std::string& text_key() const { return text_key_; }

  /// Throws what run() would throw whatever the weights: to be called before hours of training.
  virtual void check(const Seq2SeqModel& model) const = 0;
  /// Whether one decisive value is better than another: by default the higher one.
  virtual bool better(double value, double than) const { return value > than; }
  /// Scores the model. Translations or trees are written to `output` (unless it is empty).
  virtual EvaluationResult run(Seq2SeqModel& model, const std::filesystem::path& output) const = 0;

 protected:
  explicit Evaluator(const EvaluatorInput& input)
      : name_(input.name), every_(input.every), text_key_(input.text_key) {}

 private:
  std::string name_;
  int64_t every_;
  std::string text_key_;
};

/// Writes translations or trees, unless the path is empty.
void write_evaluation_output(const std::filesystem::path& output, const std::string& text);

/// For a result's line: that some sentences were longer than search takes; empty where none was.
std::string cut_text(int64_t cut);

}  // namespace attn
