// The bookkeeping of training: what must survive a crash, and what one update reports.
#pragma once

#include <cstdint>

#include "data/batches.h"

namespace attn {

/// What must be known, besides weights and optimizer, to go on exactly. Random numbers are not
/// among it: those of a batch are a pure function of the seed, the step and the batch's number in
/// it.
struct TrainState {
  int64_t step = 0;  ///< updates done
  StreamPosition stream;
  int64_t target_tokens = 0;  ///< trained on so far, eos counted
  int64_t source_tokens = 0;
  double seconds = 0.0;        ///< spent in training so far
  double best = 0.0;           ///< best validation value so far
  int64_t best_step = 0;       ///< 0: none yet
  int64_t without_better = 0;  ///< validations since
};

/// What one update did.
struct StepReport {
  int64_t step = 0;
  double loss = 0.0;  ///< smoothed, per target token
  double nll = 0.0;   ///< -log p per target token, without smoothing
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  ///< before clipping
  int64_t target_tokens = 0;
  int64_t source_tokens = 0;
  int64_t sentences = 0;
};

}  // namespace attn
