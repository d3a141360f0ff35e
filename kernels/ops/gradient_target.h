// Gradients that a backward pass adds to the parameter's own.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// A parameter's gradient to add to: its own where it has one, which saves a whole tensor that is
/// zeroed, filled and added, else a new one, which is to be returned to autograd. Only for
/// backward(): torch::autograd::grad with respect to the parameter does not get what went there.
struct GradientTarget {
  explicit GradientTarget(const torch::Tensor& parameter) : into(parameter.grad()) {
    if (into.defined() && into.is_contiguous() && into.scalar_type() == torch::kFloat32) return;
    into = to_return = torch::zeros(parameter.sizes(), parameter.options());
  }
  torch::Tensor into;
  torch::Tensor to_return;  ///< undefined if `into` is the parameter's own
};

}  // namespace attn
