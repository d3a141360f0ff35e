// The interface of optimizers over the flat parameter buffer, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

  /// `own`: the parameters that it updates, and of which it has the state.
  Optimizer(FlatParameters& parameters, FlatRange own) : parameters_(parameters), own_(own) {}
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of its parameters with the gradients in the buffer. `step` counts from 1. On a CPU
  /// element-wise updates flush subnormal state to 0 (update_in_parts): that of parameters with
  /// zero gradients (rare words) becomes subnormal after hundreds of updates, and arithmetic with
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
  virtual std::vector<torch::Tensor> state() const = 0;
  /// Visits the state by parameter: views of `whole`, the tensors of state() for all parameters,
  /// [P] each. Reading a checkpoint writes to them.
  virtual void visit_state(const std::vector<torch::Tensor>& whole,
                           const VisitState& visit) const = 0;

 protected:
  /// Visits the views of a [P] tensor for the parameters in `groups`, named "KIND.PARAMETER".
  void visit_views(const VisitState& visit, const std::string& kind, const torch::Tensor& flat,
                   const std::vector<RateGroup>& groups) const;

  /// Calls work(begin, end, factor) for its own parts of each group, as update_in_parts().
  void update_groups(
      const std::vector<RateGroup>& groups,
      const std::function<void(int64_t begin, int64_t end, double factor)>& work) const;

  /// A part of a tensor of its state; [begin, end) is of the flat buffer.
  torch::Tensor own_part(const torch::Tensor& state, int64_t begin, int64_t end) const {
    return state.narrow(0, begin - own_.begin, end - begin);
  }
  torch::Tensor zero_state() const {
    return torch::zeros({own_.size()}, parameters_.values.options());
  }

  FlatParameters& parameters_;
  FlatRange own_;
};

/// All parameters.
inline FlatRange whole_range(const FlatParameters& parameters) {
  return {0, parameters.values.numel()};
}

/// All parameters: hidden matrices with the factor `hidden`, the others with 1.
std::vector<RateGroup> rate_groups(const FlatParameters& parameters, double hidden = 1.0);

/// Calls work(begin, end) for the parts of a range, on all of torch's threads with subnormals
/// flushed to 0; once on a GPU. The results of element-wise work do not depend on the threads.
void update_in_parts(const torch::Tensor& flat, FlatRange range,
                     const std::function<void(int64_t begin, int64_t end)>& work);

/// The intersection of two ranges; empty if begin >= end.
FlatRange intersection(FlatRange a, FlatRange b);

/// The optimizer of a config. `hidden_rate`: factor on the learning rate of hidden matrices
/// (Seq2SeqModel::hidden_rate), 1 for Muon. `own`: begins and ends at cache lines (16 floats); all
/// parameters for Muon, which orthogonalizes whole matrices.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, FlatParameters& parameters,
                                          double hidden_rate, FlatRange own);
/// The same for all parameters.
inline std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                                 FlatParameters& parameters,
                                                 double hidden_rate = 1.0) {
  return make_optimizer(config, parameters, hidden_rate, whole_range(parameters));
}

}  // namespace attn
