// One update of the weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/batches.h"
#include "model/seq2seq.h"
#include "train/batch_ahead.h"
#include "train/batch_gradient.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/optimizer.h"
#include "train/parallel/communicator.h"
#include "train/state.h"
#include "train/weight_average.h"

namespace attn {

/// Thrown before an update if the loss or the gradient norm is not finite; weights and optimizer
/// are unchanged.
class NonFiniteLoss : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The dropout seed of a batch of an update: a pure function, so that a resumed run uses the same
/// ones. Distinct for up to 2^40 steps and kMaxAccumulated batches per update.
uint64_t dropout_seed(uint64_t seed, int64_t step, int64_t batch);

/// The tensors of the optimizer's state (Optimizer::state) for all parameters, [P] each.
using OptimizerState = std::vector<torch::Tensor>;

/// With several processes, step, collect_state and distribute throw CommunicationError.
class Trainer {
 public:
  /// The model, the stream and the communicator must outlive the trainer. On a GPU the stream is an
  /// update ahead of state.stream between updates, when it may be restored (BatchAhead), and
  /// batches are padded by `classes`, if a single process trains and the model allows it
  /// (varies_within_class).
  Trainer(const TrainConfig& config, uint64_t seed, Seq2SeqModel& model, BatchStream& stream,
          const TrainerProcesses& processes = {}, const std::optional<ClassRule>& classes = {});

  /// Takes `accumulate` batches and updates the weights once. Throws NonFiniteLoss, and what
  /// building these batches threw.
  StepReport step();
  /// Forward and backward of one batch without an update, to find out whether the largest one fits
  /// into memory.
  void check_memory(const Batch& batch);

  /// The optimizer's state as the first process saves it. A sharded one is gathered there (the
  /// others have undefined tensors); all processes must call it.
  OptimizerState collect_state();
  /// Copies state, weights, their average and the optimizer's state from the first process, which
  /// has `whole`, to the others, whose `whole` is not used. All processes must call it. The stream
  /// is not restored.
  void distribute(const OptimizerState& whole);

  /// By which batches are padded, if they are.
  const std::optional<ClassRule>& classes() const { return classes_; }
  /// Launches padded batches as CUDA graphs from now on, or tells `say` why not; see
  /// ClassGraphs::use. Without a capture: by that of the device, or nothing on a CPU.
  void use_graphs(std::function<void(const std::string&)> say, Capture capture = {});

  TrainState state;
  FlatParameters& parameters() { return parameters_; }
  Optimizer& optimizer() { return *optimizer_; }
  /// Exists with train.ema only.
  WeightAverage& average() { return average_; }

 private:
  bool queue_update(const StepReport& report, const torch::Tensor& sums);

  TrainConfig config_;
  TrainerProcesses processes_;
  uint64_t seed_;
  Seq2SeqModel& model_;
  const EncodedCorpus& corpus_;
  std::optional<ClassRule> classes_;
  BatchAhead batches_;
  FlatParameters parameters_;
  BatchGradient gradient_;
  std::unique_ptr<Optimizer> optimizer_;
  WeightAverage average_;
};

}  // namespace attn
