// torch::nn::Linear whose product may run on bf16 tiles (kernels/ops/bf16.h).
#pragma once

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
    torch::nn::init::xavier_uniform_(weight);
    if (bias.defined()) bias.zero_();
  }
  LinearWeights weights() const { return {weight, bias}; }
  torch::Tensor forward(const torch::Tensor& x) { return linear(x, weights()); }
};
TORCH_MODULE(Linear);

}  // namespace attn
