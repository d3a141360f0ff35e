#include "model/convolutional/weight_norm.h"

#include "kernels/ops/linear.h"

namespace attn {

WeightNormLinearImpl::WeightNormLinearImpl(int64_t inputs, int64_t outputs, double deviation)
    : deviation_(deviation) {
  direction = register_parameter("direction", torch::empty({outputs, inputs}));
  length = register_parameter("length", torch::empty({outputs}));
  bias = register_parameter("bias", torch::empty({outputs}));
}

void WeightNormLinearImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  direction.normal_(0.0, deviation_);
  length.copy_(direction.norm(2, 1));
  bias.zero_();
}

torch::Tensor WeightNormLinearImpl::scale() const {
  return length / direction.norm(2, 1);
}

torch::Tensor WeightNormLinearImpl::product(const torch::Tensor& x_NI) {
  return linear(x_NI, {direction, {}});
}

torch::Tensor WeightNormLinearImpl::forward(const torch::Tensor& x_NI) {
  if (folded_) return linear(x_NI, {direction, bias});
  // Formula weight_norm: fast path fold.
  return torch::addcmul(bias, product(x_NI), scale());
  // End of formula.
}

void WeightNormLinearImpl::fold() {
  const torch::NoGradGuard no_grad;
  if (!folded_) direction.mul_(scale().unsqueeze(1));
  folded_ = true;
}

}  // namespace attn
