#include "model/layers/norm.h"

namespace attn {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;

}  // namespace

NormLayerImpl::NormLayerImpl(int64_t width) {
  weight = register_parameter("weight", torch::empty({width}));
  bias = register_parameter("bias", torch::empty({width}));
  reset_parameters();
}

void NormLayerImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  weight.fill_(1.0);
  bias.zero_();
}

torch::Tensor NormLayerImpl::forward(const torch::Tensor& x_ND) {
  return normalised(x_ND, kernel_parameters());
}

torch::Tensor NormLayerImpl::after_residual(const torch::Tensor& x_ND,
                                            const torch::Tensor& update_ND,
                                            const Dropout& dropout) {
  return residual_norm(x_ND, update_ND, kernel_parameters(), dropout->probability());
}

NormParameters NormLayerImpl::kernel_parameters() const {
  return {.weight = weight, .bias = bias, .epsilon = kLayerNormEpsilon};
}

}  // namespace attn
