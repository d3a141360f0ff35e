// Comparing tensors in tests.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/libtorch.h"
#include "tests/support/catch.h"

namespace attn::testing {

/// Greatest absolute difference; infinity when shapes differ.
inline double max_difference(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  if (a.numel() == 0) return 0.0;
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

/// Checks shapes, and that no difference is above `tolerance` times the largest expected value, or
/// `least` where that is larger.
inline void check_close(const torch::Tensor& found, const torch::Tensor& expected, double tolerance,
                        double least = 0.0) {
  const double largest = expected.numel() > 0 ? expected.abs().max().item<double>() : 0.0;
  CHECK(max_difference(found.cpu(), expected.cpu()) <= tolerance * std::max(largest, least));
}

/// The same for each pair of tensors. Undefined ones must be so on both sides.
inline void check_close(const std::vector<torch::Tensor>& found,
                        const std::vector<torch::Tensor>& expected, double tolerance,
                        double least = 0.0) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    REQUIRE(found[i].defined() == expected[i].defined());
    if (expected[i].defined()) check_close(found[i], expected[i], tolerance, least);
  }
}

/// A tensor of these values whose gradient is computed.
inline torch::Tensor leaf(const torch::Tensor& x) {
  return x.detach().clone().requires_grad_();
}

/// The nearest bf16 numbers, as float32.
inline torch::Tensor rounded(const torch::Tensor& x) {
  return x.to(torch::kBFloat16).to(torch::kFloat32);
}

}  // namespace attn::testing
