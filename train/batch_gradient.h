// The gradient of a batch's loss, on all cores.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "kernels/ops/bf16.h"
#include "model/seq2seq.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/loss.h"

namespace attn {

/// What an update's gradient comes from, summed over its target tokens, and how long it is.
struct UpdateSums {
  double smoothed = 0.0;
  double nll = 0.0;  ///< of -log p, without smoothing
  double gradient_norm = 0.0;
};

/// On a CPU each of torch's threads takes some of a batch's sentences, with a replica of the model
/// that shares its weights: threads that work through whole sentences wait for each other once a
/// batch, threads that share each product wait at each. The number of threads changes rounding and
/// which elements dropout takes; the same number gives the same bits. Where the replicas' gradients
/// would take more than 1 GB there are none, and threads share the products.
class BatchGradient {
 public:
  /// `parameters` are the model's; both must outlive this object. Takes the number of threads that
  /// torch has now.
  BatchGradient(Seq2SeqModel& model, FlatParameters& parameters, Precision precision,
                cpu::SmoothedTargets targets);
  BatchGradient(const BatchGradient&) = delete;
  BatchGradient& operator=(const BatchGradient&) = delete;

  /// Begins an update, with the weights as they are now.
  void zero();
  /// Adds `factor` times the gradient of the batch's summed loss. Dropout is a function of `seed`.
  /// Doesn't wait for a GPU.
  void add(const Batch& batch, double factor, uint64_t seed);
  /// Brings what has been added into the parameters' gradients; before it they are incomplete.
  /// Returns the sums since zero(); this is where a GPU is waited for.
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
  Bf16Weights bf16_weights_;
  cpu::SmoothedTargets targets_;
  std::vector<Replica> replicas_;  // one less than there are threads, or none
  std::vector<LossSums> losses_;   // since zero()
};

}  // namespace attn
