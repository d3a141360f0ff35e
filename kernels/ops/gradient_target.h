// Gradient accumulation in place.
#pragma once

#include <ATen/ops/addmm.h>

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

/// sum += a b in float32, whether a and b are float32 or bf16: their products are not rounded to
/// bf16 before they are added, which also saves a temporary tensor and two kernels on a GPU.
inline void add_product(torch::Tensor& sum, const torch::Tensor& a, const torch::Tensor& b) {
  if (a.is_cuda() && a.scalar_type() != torch::kFloat32) {
    at::addmm_out(sum, sum, a, b, torch::kFloat32, 1, 1);
  } else {
    sum.addmm_(a.to(torch::kFloat32), b.to(torch::kFloat32));
  }
}

}  // namespace attn
