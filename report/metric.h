// Metrics of a report: one per kind of evaluator (eval/tasks/evaluator_config.h).
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <variant>

#include "eval/tasks/evaluator_config.h"

namespace attn {

/// Identified by its kind of evaluator.
using Metric = EvaluatorKind;

struct MetricFacts : EvaluatorMetric {
  Metric metric;
};

template <size_t... I>
constexpr auto declared_metrics(std::index_sequence<I...>) {
  return std::array{MetricFacts{std::variant_alternative_t<I, EvaluatorConfig::Options>::metric,
                                static_cast<Metric>(I)}...};
}

/// In the order of columns, which is that of Metric.
inline constexpr auto kMetrics =
    declared_metrics(std::make_index_sequence<std::variant_size_v<EvaluatorConfig::Options>>());

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
