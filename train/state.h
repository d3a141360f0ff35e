// Training state and the report of an update.
#pragma once

#include <cstdint>

#include "data/batches.h"

namespace attn {

/// Sums over the updates since the last log line.
struct IntervalSums {
  double loss = 0.0, nll = 0.0, tokens = 0.0, began = 0.0;  ///< began: training time before it
};

/// The state needed to resume exactly, besides weights and optimizer. There is no RNG state: random
/// numbers are a pure function of the seed, the step and the index of the batch.
struct TrainState {
  int64_t step = 0;  ///< number of updates
  StreamPosition stream;
  int64_t target_tokens = 0;  ///< target tokens so far, EOS included
  double seconds = 0.0;       ///< training time so far
  IntervalSums interval;
  double best = 0.0;           ///< best validation value so far
  int64_t best_step = 0;       ///< 0: none yet
  int64_t without_better = 0;  ///< validations since then
  /// 1 between a step's checkpoint and its evaluations, which the last three fields lack then.
  int64_t evaluation_pending = 0;
};

/// Report of one update.
struct StepReport {
  int64_t step = 0;
  double loss = 0.0;  ///< smoothed, per target token
  double nll = 0.0;   ///< -log p per target token, without smoothing
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  ///< before clipping
  int64_t target_tokens = 0;
};

}  // namespace attn
