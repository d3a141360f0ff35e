// Data-parallel gradient of a batch on all cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/batch.h"
#include "kernels/ops/linear.h"
#include "model/seq2seq.h"
#include "train/class_graphs.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/loss.h"
#include "train/parallel/gradient_sum.h"

namespace attn {

/// The precision used on `device`: fp32 on CPUs without bf16 instructions, where emulation is slow.
Precision effective_precision(Precision requested, torch::Device device);

/// Loss sums over the target tokens of an update, and its gradient norm.
struct UpdateSums {
  double smoothed = 0.0;
  double nll = 0.0;  ///< -log p without smoothing
  double gradient_norm = 0.0;
};

/// The processes of a training run; by default this one alone.
struct TrainerProcesses {
  Communicator& world = single_process();
  /// Each process updates a shard of the parameters and stores only its optimizer state. Not for
  /// Muon. Does not change results.
  bool shard_optimizer = false;
};

/// On a CPU each of torch's threads computes some sentences of a batch with a replica that shares
/// the weights: threads then synchronize once per batch instead of once per product. Rounding and
/// dropout masks depend on the number of threads; the same number gives the same bits. If the
/// gradients of the replicas would take more than 1 GB, threads share the products instead.
///
/// With n processes of t threads a batch has n · t parts, of which process r computes those from r
/// · t. Gradients are added as one tree over all parts (tree_sum): n processes of one thread and
/// one process of n threads give the same bits on a CPU, unless its threads share the products, and
/// so do all divisions into processes whose number of threads is a power of 2.
class BatchGradient {
 public:
  /// `parameters` are the model's; both and the communicator must outlive this. Uses torch's
  /// current number of threads, which must be the same in all processes. `residual`: the type of
  /// the residual stream, float32 if the precision in use is.
  BatchGradient(Seq2SeqModel& model, FlatParameters& parameters, Precision precision,
                cpu::SmoothedTargets targets, const TrainerProcesses& processes = {},
                Precision residual = Precision::fp32);
  BatchGradient(const BatchGradient&) = delete;
  BatchGradient& operator=(const BatchGradient&) = delete;

  /// Starts an update with the current weights.
  void zero();
  /// Adds `factor` times the gradient of the summed loss of this process's parts of the batch.
  /// `seed` is the dropout seed. Does not synchronize with a GPU or with other processes.
  void add(const Batch& batch, double factor, uint64_t seed);
  /// The same for a padded batch, undivided: on a GPU's path of a single process. Writes the factor
  /// to its block.
  void add(const StaticBatch& batch, double factor, uint64_t seed);
  /// The same captured and replayed; see ClassGraphs::use.
  void use_graphs(Capture capture, std::function<void(const std::string&)> say) {
    padded_.use(std::move(capture), std::move(say));
  }
  /// Reduces the gradients of all replicas and processes into the parameters' gradients; with a
  /// sharded optimizer into those of this process's shard. Returns the sums since zero(), over all
  /// processes. Synchronizes with a GPU and with other processes. `meanwhile` is only called on a
  /// GPU's path of a single process, to queue what the host need not wait for: it is given the
  /// square of the gradient norm and each batch's loss and -log p, float64 on the device.
  UpdateSums collect(const std::function<void(const torch::Tensor& sums)>& meanwhile = {});
  /// With a sharded optimizer, gives every process the weights that the others have updated.
  void gather_weights() {
    if (processes_.shard_optimizer) sum_.gather(parameters_.values);
  }
  /// How gradients, and with a sharded optimizer its state, are divided among the processes.
  const GradientSum& sum() const { return sum_; }

 private:
  struct Replica {
    std::shared_ptr<Seq2SeqModel> model;
    std::unique_ptr<FlatParameters> parameters;
    bool used = false;  // since zero()
  };
  LossSums forward(Seq2SeqModel& model, const TokenSequences& source,
                   const TokenSequences& target_in, const torch::Tensor& targets_N, uint64_t seed,
                   const torch::Tensor& device_seed);
  torch::Tensor add_part(Seq2SeqModel& model, const Batch& part, double factor, uint64_t seed);
  int64_t own_parts() const { return static_cast<int64_t>(replicas_.size()) + 1; }
  void add_padded(const StaticBatch& on_device);
  torch::Tensor squares_and_losses() const;
  UpdateSums sum_scalars(const torch::Tensor& squares_and_losses) const;

  TrainerProcesses processes_;
  GradientSum sum_;

  Seq2SeqModel& model_;
  FlatParameters& parameters_;
  Precision precision_, residual_;
  PackedWeights packed_weights_;
  cpu::SmoothedTargets targets_;
  std::vector<Replica> replicas_;  // number of threads - 1, or none
  // {loss, nll} since zero(): of each batch [own_parts(), 2] float64, 0 for parts that a short one
  // does not have.
  std::vector<torch::Tensor> losses_;
  torch::Tensor padded_sums_;  // of padded batches since zero(): {loss, nll}, float64
  ClassGraphs padded_;
};

}  // namespace attn
