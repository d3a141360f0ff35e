// All parameters of a model as one tensor, so that an optimizer step, a norm or a check for NaN is
// one operation.
#pragma once

#include <string>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// Moves every parameter of a model, and its gradient, into one buffer each; the parameters become
/// views of it. The model must outlive this object and not change its parameters.
class FlatParameters {
 public:
  explicit FlatParameters(torch::nn::Module& model);
  /// Makes `model`, of the same shape as the one of `shared`, a replica: it reads that one's values
  /// and has gradients of its own.
  FlatParameters(torch::nn::Module& model, const FlatParameters& shared);

  struct Slot {
    std::string name;
    int64_t offset;
    std::vector<int64_t> shape;
  };

  /// [P] float32; writing to it writes to the model.
  torch::Tensor values;
  torch::Tensor gradients;
  const std::vector<Slot>& slots() const { return slots_; }
  /// The part of a [P] tensor that belongs to a slot, in the parameter's shape.
  static torch::Tensor view(const torch::Tensor& flat, const Slot& slot);

 private:
  void make_views(torch::nn::Module& model);

  std::vector<Slot> slots_;
};

}  // namespace attn
