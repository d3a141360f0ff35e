// Properties of an evaluator kind that config and report need.
#pragma once

#include <memory>

namespace attn {

class Evaluator;
struct EvaluatorInput;

/// The metric by which the rows of a sweep are compared.
struct EvaluatorMetric {
  const char* key;      ///< in results, sweep files and CSV
  const char* title;    ///< column title
  const char* name;     ///< within a sentence
  const char* heading;  ///< at the start of a sentence
  const char* meaning;
  int paper_decimals = 1;  ///< decimals in the paper
  bool bootstrap = false;  ///< whether to run paired bootstrap resampling (BLEU only)
  bool lower_is_better = false;
};

}  // namespace attn
