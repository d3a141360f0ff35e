// One update of the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/batches.h"
#include "model/transformer.h"
#include "train/adam.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/loss.h"
#include "train/state.h"

namespace attn {

/// Thrown before the update when the loss or the gradient is not finite: weights and optimizer are
/// as they were.
class NonFiniteLoss : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Trainer {
 public:
  /// `never_target`: see smoothed_targets. The model and the stream must outlive the trainer.
  Trainer(const TrainConfig& config, uint64_t seed, Transformer model, BatchStream& stream,
          int64_t never_target);

  /// Takes `accumulate` batches and updates the weights once. Throws NonFiniteLoss.
  StepReport step();
  /// Forward and backward of one batch without an update: does the largest one fit?
  void rehearse(const Batch& batch);

  TrainState state;
  FlatParameters& parameters() { return parameters_; }
  Adam& adam() { return adam_; }

 private:
  LossSums forward(const Batch& batch);

  TrainConfig config_;
  uint64_t seed_;
  Transformer model_;
  BatchStream& stream_;
  FlatParameters parameters_;
  Adam adam_;
  cpu::SmoothedTargets targets_;
};

/// Runs matrix products in `precision` while it lives; sums, norms, softmax and weights stay
/// float32.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, torch::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  bool active_;
  torch::Device device_;
};

}  // namespace attn
