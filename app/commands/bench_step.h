// The cost of training, measured: `attn bench step` and `attn train --dry-run`.
#pragma once

#include <cstdint>

#include "app/experiment/experiment.h"
#include "app/sweep/costs.h"
#include "kernels/libtorch.h"

namespace attn {

struct StepBenchmarkOptions {
  double seconds = 5.0;         ///< seconds of measurement, after the first updates
  bool trace = false;           ///< updates are traced, too
  int64_t batch_tokens = 4096;  ///< largest batch measured; larger ones are extrapolated by FLOPs
  int64_t vocabulary = 0;       ///< of synthetic data; 0: data.vocab_size
  /// Sentence length of synthetic data; 0: the real text, or synthetic sentences of log-normal
  /// lengths (median 22 tokens) if it is missing.
  int64_t synthetic_length = 0;
};

/// Trains for some seconds and returns the cost of an update. Says on stderr if the text is
/// missing. Encodes it in data.cache, by default in the temporary directory.
StepBenchmark benchmark_step(const Experiment& experiment, const StepBenchmarkOptions& options,
                             torch::Device device);

}  // namespace attn
