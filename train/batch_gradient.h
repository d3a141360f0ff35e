// Data-parallel gradient of a batch on all cores.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "kernels/ops/linear.h"
#include "model/seq2seq.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/loss.h"

namespace attn {

/// Loss sums over the target tokens of an update, and its gradient norm.
struct UpdateSums {
  double smoothed = 0.0;
  double nll = 0.0;  ///< -log p without smoothing
  double gradient_norm = 0.0;
};

/// On a CPU each of torch's threads computes some sentences of a batch with a replica that shares
/// the weights: threads then synchronize once per batch instead of once per product. Rounding and
/// dropout masks depend on the number of threads; the same number gives the same bits. If the
/// gradients of the replicas would take more than 1 GB, threads share the products instead.
class BatchGradient {
 public:
  /// `parameters` are the model's; both must outlive this. Uses torch's current number of threads.
  BatchGradient(Seq2SeqModel& model, FlatParameters& parameters, Precision precision,
                cpu::SmoothedTargets targets);
  BatchGradient(const BatchGradient&) = delete;
  BatchGradient& operator=(const BatchGradient&) = delete;

  /// Starts an update with the current weights.
  void zero();
  /// Adds `factor` times the gradient of the summed loss. `seed`: of dropout. Does not synchronize
  /// with a GPU.
  void add(const Batch& batch, double factor, uint64_t seed);
  /// Reduces the gradients of all replicas into the parameters' gradients. Returns the sums since
  /// zero(). Synchronizes with a GPU.
  UpdateSums collect();

 private:
  struct Replica {
    std::shared_ptr<Seq2SeqModel> model;
    std::unique_ptr<FlatParameters> parameters;
    bool used = false;  // since zero()
  };
  LossSums forward(Seq2SeqModel& model, const Batch& part, uint64_t seed);
  LossSums add_part(Seq2SeqModel& model, const Batch& part, double factor, uint64_t seed);

  Seq2SeqModel& model_;
  FlatParameters& parameters_;
  Precision precision_;
  PackedWeights packed_weights_;
  cpu::SmoothedTargets targets_;
  std::vector<Replica> replicas_;  // number of threads - 1, or none
  std::vector<LossSums> losses_;   // since zero()
};

}  // namespace attn
