// What a report compares the rows of a sweep by. A new one is a value of Metric with its line in
// kMetrics; whoever finds it is an evaluator (eval/tasks/evaluator_config.h).
#pragma once

#include <array>
#include <cstddef>

#include "eval/tasks/evaluator_config.h"

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
  bool bootstrap;      ///< whether sentences are compared, too; what does so knows BLEU alone
};

/// In the order of columns, which is that of Metric.
inline constexpr std::array kMetrics = {
    MetricFacts{Metric::ppl, EvaluatorKind::loss, "ppl", "PPL", "perplexity", "Perplexity",
                "perplexity per subword", 2, false},
    MetricFacts{Metric::bleu, EvaluatorKind::bleu, "bleu", "BLEU", "BLEU", "BLEU", "BLEU, percent",
                1, true},
    MetricFacts{Metric::f1, EvaluatorKind::parse, "f1", "F1", "F1", "F1", "F1 of trees, percent", 1,
                false}};

static_assert([] {
  for (size_t i = 0; i < kMetrics.size(); ++i) {
    if (kMetrics[i].metric != static_cast<Metric>(i)) return false;
  }
  return true;
}());

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
