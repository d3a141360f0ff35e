// Benchmark of the training step, for `attn bench step` and the dry run of sweeps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "app/bench/step_cost.h"
#include "app/experiment/experiment.h"
#include "kernels/libtorch.h"

namespace attn {

struct StepBenchmarkOptions {
  double seconds = 5.0;         ///< seconds of measurement, after the first updates
  int64_t batch_tokens = 4096;  ///< largest batch measured; larger ones are extrapolated by FLOPs
  std::filesystem::path cache;  ///< for the vocabulary and the encoded corpus; created if missing
  /// Vocabulary of synthetic data; 0: data.vocab_size.
  int64_t vocabulary = 0;
  /// Sentence length of synthetic data; 0: the real text, or synthetic sentences of log-normal
  /// lengths (median 22 tokens) if it is missing.
  int64_t synthetic_length = 0;
  bool trace = false;  ///< updates are traced, too
};

/// Trains on the device for `seconds` and returns the cost of an update. `say` is told about CUDA
/// graphs, and the table of the trace. Throws ConfigError and DataError for errors of the config
/// and the data.
StepBenchmark benchmark_step(const Experiment& experiment, const StepBenchmarkOptions& options,
                             torch::Device device,
                             const std::function<void(const std::string&)>& say = {});

}  // namespace attn
