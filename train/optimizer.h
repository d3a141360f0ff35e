// The interface of optimizers over the flat parameter buffer, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/libtorch.h"
#include "train/flat_parameters.h"
#include "train/optimizer_config.h"
#include "train/parallel/shards.h"

namespace attn {

/// A range whose parameters take `factor` times the scheduled learning rate. Weight decay is
/// learning rate × weight_decay whatever the factor, so that with µP it does not depend on the
/// width (as in the MuAdamW of Yang et al. 2021).
struct RateGroup {
  FlatRange range;
  double factor = 1.0;
};

class Optimizer {
 public:
  /// Receives the state that belongs to a parameter, "first_moment.encoder.…", in its shape.
  using VisitState = std::function<void(const std::string& name, const torch::Tensor& values)>;

  /// Updates the parameters of `groups` in `own`, of which it has the state: a tensor of zeros for
  /// each name.
  Optimizer(FlatParameters& parameters, FlatRange own, std::vector<RateGroup> groups,
            std::vector<std::string> state_names);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of its parameters with the gradients in the buffer. `step` counts from 1. On a CPU
  /// element-wise updates flush subnormal state to 0 (update_parts): that of parameters with zero
  /// gradients (rare words) becomes subnormal after hundreds of updates, and arithmetic with
  /// subnormals is slow.
  virtual void update(double learning_rate, int64_t step) = 0;
  /// update() on a GPU before the host knows the gradients' norm: divides the gradients by
  /// `divisor` if it is defined, and changes nothing if `skip` is 1; fp32 [] on the device. Returns
  /// false, having done nothing, if the optimizer has no such update.
  virtual bool queue(double /*learning_rate*/, int64_t /*step*/, const torch::Tensor& /*divisor*/,
                     const torch::Tensor& /*skip*/) {
    return false;
  }
  /// The flat tensors of its state, [own] each.
  const std::vector<torch::Tensor>& state() const { return state_; }
  /// Visits the state by parameter: views of `whole`, the tensors of state() for all parameters,
  /// [P] each. Reading a checkpoint writes to them.
  virtual void visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const;

 protected:
  /// A part of its parameters: views.
  struct Part {
    torch::Tensor values, gradients;
    std::vector<torch::Tensor> state;
    double factor = 1.0;  ///< see RateGroup
  };
  /// Calls work(part) for all of its parameters, on a CPU on all of torch's threads with subnormals
  /// flushed to 0. The results of element-wise work do not depend on the threads.
  void update_parts(const std::function<void(const Part&)>& work) const;

  FlatParameters& parameters_;

 private:
  FlatRange own_;
  std::vector<RateGroup> groups_;
  std::vector<std::string> state_names_;
  std::vector<torch::Tensor> state_;
};

/// All parameters.
inline FlatRange whole_range(const FlatParameters& parameters) {
  return {0, parameters.values.numel()};
}

/// Five Newton-Schulz steps X ← aX + (bA + cA²)X with A = XXᵀ, from X = G / ‖G‖: a matrix with
/// the singular vectors of `matrix` and singular values of about 0.7 to 1.2, Muon's. float32.
torch::Tensor orthogonalized(const torch::Tensor& matrix);

/// The optimizer of a config. `hidden_rate`: factor on the learning rate of hidden matrices
/// (Seq2SeqModel::hidden_rate), 1 for Muon. `own`, by default all parameters: begins and ends at
/// cache lines (16 floats); not for Muon, which orthogonalizes whole matrices.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, FlatParameters& parameters,
                                          double hidden_rate = 1.0,
                                          const std::optional<FlatRange>& own = {});

}  // namespace attn
