// Weight normalization (Salimans and Kingma 2016): rows of a weight as length times direction.
#pragma once

#include "kernels/libtorch.h"
#include "model/layers/layer.h"

namespace attn {

/// Rows [N, inputs] to [N, outputs]: x Wᵀ + b, where row o of W is length[o] · direction[o] /
/// ‖direction[o]‖. Multiplies by the parameter `direction`, so that the product may run on bf16
/// tiles, and scales the columns of the result afterwards.
class WeightNormLinearImpl : public torch::nn::Module, public Layer {
 public:
  /// Initially W is normal with this standard deviation, and b is zero.
  WeightNormLinearImpl(int64_t inputs, int64_t outputs, double deviation);
  void reset_parameters() override;

  torch::Tensor forward(const torch::Tensor& x_NI);
  /// x directionᵀ, whose columns must be scaled by scale() before the bias is added.
  torch::Tensor product(const torch::Tensor& x_NI);
  /// length / ‖direction‖, [outputs].
  torch::Tensor scale() const;
  /// Replaces the direction by W itself, for search; not trainable afterwards.
  void fold();

  torch::Tensor direction;  ///< [outputs, inputs]
  torch::Tensor length;     ///< [outputs]
  torch::Tensor bias;       ///< [outputs]

 private:
  double deviation_;
  bool folded_ = false;
};
TORCH_MODULE(WeightNormLinear);

}  // namespace attn
