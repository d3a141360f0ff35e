// What a report compares the rows of a sweep by. A new one is a value of Metric with its line in
// kMetrics; whoever finds it is an evaluator (eval/evaluator_config.h).
#pragma once

#include <array>
#include <cstddef>

#include "eval/evaluator_config.h"

namespace attn {

enum class Metric { ppl, bleu, f1 };

struct MetricFacts {
  Metric metric;
  EvaluatorKind evaluator;  ///< whose result it is
  const char* key;          ///< in results, sweep files and CSV
  const char* title;        ///< of a column
  const char* name;         ///< in a sentence
  const char* heading;      ///< at its head
  const char* meaning;
  int paper_decimals;  ///< as the paper prints it
  bool bootstrap;      ///< whether two systems' sentences can be compared, too
};

/// In the order of columns.
inline constexpr std::array kMetrics = {
    MetricFacts{Metric::ppl, EvaluatorKind::loss, "ppl", "PPL", "perplexity", "Perplexity",
                "perplexity per subword on the development set", 2, false},
    MetricFacts{Metric::bleu, EvaluatorKind::bleu, "bleu", "BLEU", "BLEU", "BLEU",
                "BLEU on the development set", 1, true},
    MetricFacts{Metric::f1, EvaluatorKind::parse, "f1", "F1", "F1", "F1",
                "F1 of trees on the development set, percent", 1, false}};

/// One value for each metric.
template <class T>
class PerMetric {
 public:
  T& operator[](Metric metric) { return values_[static_cast<size_t>(metric)]; }
  const T& operator[](Metric metric) const { return values_[static_cast<size_t>(metric)]; }
  bool operator==(const PerMetric&) const = default;

 private:
  std::array<T, kMetrics.size()> values_{};
};

}  // namespace attn
