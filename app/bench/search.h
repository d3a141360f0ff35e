// Benchmark of beam search: sentences/s by the number of lines per call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/tasks/translator.h"

namespace attn {

struct SearchBenchmark {
  int64_t at_once = 0;  ///< lines per call
  int64_t sentences = 0;
  double seconds = 0.0;

  double sentences_per_second() const { return static_cast<double>(sentences) / seconds; }
};

/// Translates the lines, `at_once` per call, until all are translated or `seconds` have passed (at
/// least one call), after one warm-up call.
SearchBenchmark benchmark_search(Translator& translator, std::span<const std::string> lines,
                                 int64_t at_once, double seconds);

}  // namespace attn
