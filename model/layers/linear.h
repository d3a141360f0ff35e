// torch::nn::Linear whose product may run on bf16 tiles (kernels/ops/linear.h).
#pragma once

#include <cmath>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear.h"
#include "model/layers/layer.h"

namespace attn {

/// Rows [N, inputs] to [N, outputs]: x Wᵀ + b.
class LinearImpl : public torch::nn::LinearImpl, public Layer {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  void reset_parameters() override {
    const torch::NoGradGuard no_grad;
    if (unit_fan_in) {
      weight.normal_(0.0, gain / std::sqrt(static_cast<double>(weight.size(1))));
    } else {
      torch::nn::init::xavier_uniform_(weight, gain);
    }
    if (bias.defined()) bias.zero_();
  }
  std::vector<torch::Tensor> hidden_matrices() const override { return {weight}; }
  LinearWeights weights() const { return {weight, bias}; }
  torch::Tensor forward(const torch::Tensor& x) { return linear(x, weights()); }

  double gain = 1.0;         ///< gain of the initialization
  bool unit_fan_in = false;  ///< normal with variance gain² / inputs instead of Xavier uniform
};
TORCH_MODULE(Linear);

}  // namespace attn
