// torch::nn::Linear whose product may be that of packed weights (kernels/ops/linear.h).
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "kernels/compute_scope.h"
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
  torch::Tensor forward(const torch::Tensor& x) {
    if (ComputeScope::takes(FastPath::linear)) return linear(x, weights());
    // Formula linear: fast paths linear, packed_search, gpu_linear.
    return torch::linear(x, weight, bias);
    // End of formula.
  }

  double gain = 1.0;         ///< gain of the initialization
  bool unit_fan_in = false;  ///< normal with variance gain² / inputs instead of Xavier uniform
};
TORCH_MODULE(Linear);

/// Several layers of the same rows.
inline std::vector<torch::Tensor> project_all(const torch::Tensor& x,
                                              std::initializer_list<Linear> layers) {
  std::vector<LinearWeights> weights;
  std::vector<torch::Tensor> results;
  const bool fast = ComputeScope::takes(FastPath::linear);
  for (Linear layer : layers) {
    if (fast) {
      weights.push_back(layer->weights());
    } else {
      results.push_back(layer(x));
    }
  }
  return fast ? linear_all(x, weights) : results;
}

}  // namespace attn
