// The training step of an experiment, timed: what a sweep's estimates and `attn bench step` show.
#pragma once

#include <cstdint>
#include <filesystem>

#include "app/bench/step_cost.h"
#include "app/experiment/experiment.h"
#include "kernels/libtorch.h"

namespace attn {

struct StepBenchmarkOptions {
  double seconds = 5.0;         ///< of measuring, after the first update
  int64_t batch_tokens = 4096;  ///< largest batch measured; costs scale with the matrix products
  std::filesystem::path cache;  ///< for the vocabulary and the encoded corpus; made when missing
  /// Vocabulary of the invented corpus; 0: data.vocab_size.
  int64_t vocabulary = 0;
  /// Tokens of every sentence of an invented corpus, which is then taken even where the real text
  /// is there; 0: the real one, or sentences of 10 to 40 tokens where it is missing.
  int64_t invented_length = 0;
};

/// Trains on the device for some seconds. Throws ConfigError and DataError as a training would.
StepBenchmark benchmark_step(const Experiment& experiment, const StepBenchmarkOptions& options,
                             torch::Device device);

}  // namespace attn
