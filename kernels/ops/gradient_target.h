// Gradient accumulation in place.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// The tensor to which backward() adds a parameter's gradient: the existing .grad, which saves a
/// temporary tensor, else a new one, to be returned to autograd. torch::autograd::grad does not see
/// gradients added in place.
struct GradientTarget {
  explicit GradientTarget(const torch::Tensor& parameter) : into(parameter.grad()) {
    if (into.defined() && into.is_contiguous() && into.scalar_type() == torch::kFloat32) return;
    into = to_return = torch::zeros(parameter.sizes(), parameter.options());
  }
  torch::Tensor into;
  torch::Tensor to_return;  ///< undefined if `into` is .grad
};

}  // namespace attn
