// Search, timed: sentences a second of a trained model on a text, by how many it is given at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/tasks/translator.h"

namespace attn {

struct SearchBenchmark {
  int64_t at_once = 0;  ///< lines handed over together; 1: as a person at a terminal
  int64_t sentences = 0;
  double seconds = 0.0;

  double sentences_per_second() const { return static_cast<double>(sentences) / seconds; }
};

/// Translates the lines from the first on, `at_once` together, until they or `seconds` run out (at
/// least one window). The first window is translated once more before, uncounted.
SearchBenchmark benchmark_search(Translator& translator, std::span<const std::string> lines,
                                 int64_t at_once, double seconds);

}  // namespace attn
