// Gradients that a backward pass adds to the parameter's own.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// A parameter's gradient to add to: its own where it has one, which saves a whole tensor that is
/// zeroed, filled and added, else a new one, which is to be returned to autograd. Only for
/// backward(): torch::autograd::grad does not get what went to the parameter.
struct GradientTarget {
  explicit GradientTarget(const torch::Tensor& parameter) : sum(parameter.grad()) {
    if (sum.defined() && sum.is_contiguous() && sum.scalar_type() == torch::kFloat32) return;
    sum = to_return = torch::zeros(parameter.sizes(), parameter.options().requires_grad(false));
  }
  torch::Tensor sum;
  torch::Tensor to_return;  ///< undefined if `sum` is the parameter's own
};

}  // namespace attn
