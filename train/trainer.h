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
#include "model/seq2seq.h"
#include "train/adam.h"
#include "train/batch_gradient.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/state.h"

namespace attn {

/// Thrown before an update if the loss or the gradient norm is not finite; weights and optimizer
/// are unchanged.
class NonFiniteLoss : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The dropout seed of a batch of an update: a pure function, so that a resumed run uses the same
/// ones. Distinct for up to 2^40 steps and kMostAccumulated batches per update.
uint64_t dropout_seed(uint64_t seed, int64_t step, int64_t batch);

class Trainer {
 public:
  /// `excluded_class`: see smoothed_targets. The model and the stream must outlive the trainer.
  Trainer(const TrainConfig& config, uint64_t seed, Seq2SeqModel& model, BatchStream& stream,
          int64_t excluded_class);

  /// Takes `accumulate` batches and updates the weights once. Throws NonFiniteLoss.
  StepReport step();
  /// Forward and backward of one batch without an update, to find out whether the largest one fits
  /// into memory.
  void check_memory(const Batch& batch);

  TrainState state;
  FlatParameters& parameters() { return parameters_; }
  Adam& adam() { return adam_; }

 private:
  TrainConfig config_;
  uint64_t seed_;
  Seq2SeqModel& model_;
  BatchStream& stream_;
  FlatParameters parameters_;
  Adam adam_;
  BatchGradient gradient_;
};

}  // namespace attn
