// What a kind of evaluator declares beside its options, for those who neither read text nor run
// models: the config, the report.
#pragma once

#include <memory>

namespace attn {

class Evaluator;
struct EvaluatorInput;

/// The figure of an evaluator that the rows of a sweep are compared by.
struct EvaluatorMetric {
  const char* key;      ///< in results, sweep files and CSV
  const char* title;    ///< of a column
  const char* name;     ///< in a sentence
  const char* heading;  ///< at its head
  const char* meaning;
  int paper_decimals;  ///< as the paper prints it
  bool bootstrap;      ///< whether sentences are compared, too; what does so knows BLEU alone
};

}  // namespace attn
