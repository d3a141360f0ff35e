// Comparing tensors in tests.
#pragma once

#include "kernels/libtorch.h"

namespace attn::testing {

/// Greatest absolute difference; infinity when shapes differ.
inline double max_difference(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  if (a.numel() == 0) return 0.0;
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

/// The nearest bf16 numbers, as float32.
inline torch::Tensor rounded(const torch::Tensor& x) {
  return x.to(torch::kBFloat16).to(torch::kFloat32);
}

}  // namespace attn::testing
