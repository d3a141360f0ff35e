// Properties of an evaluator kind that config and report need, and the result of an evaluation.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace attn {

class Evaluator;
struct EvaluatorInput;

/// The metric by which the rows of a sweep are compared.
struct EvaluatorMetric {
  const char* key;    ///< in results, sweep files and CSV
  const char* title;  ///< column title
  const char* meaning;
  int paper_decimals = 1;  ///< decimals in the paper
  bool bootstrap = false;  ///< tested over sentences, too (EvaluatorConfig::resampled)
  bool lower_is_better = false;
};

/// Result of an evaluation. Keys of `values` are without the evaluator's name.
struct EvaluationResult {
  std::vector<std::pair<std::string, double>> values;
  std::string line;               ///< for the log
  std::string signature;          ///< signature of the score; empty for perplexity
  double selection_metric = 0.0;  ///< selects the best checkpoint and stops training early
};

}  // namespace attn
