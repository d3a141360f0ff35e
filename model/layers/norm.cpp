#include "model/layers/norm.h"

#include <cmath>

namespace attn {
namespace {

double epsilon_of(NormKind kind) {
  switch (kind) {
    case NormKind::layer:
      return 1e-5;
    case NormKind::rms:
      return 1e-6;
    case NormKind::scale:
      return 1e-10;  // in place of the published max(‖x‖, ε)
  }
  TORCH_CHECK(false, "unknown norm");
}

}  // namespace

NormLayerImpl::NormLayerImpl(NormKind kind, int64_t width)
    : kind_(kind), width_(width), epsilon_(epsilon_of(kind)) {
  weight = register_parameter("weight", torch::empty({kind == NormKind::scale ? 1 : width}));
  if (kind == NormKind::layer) bias = register_parameter("bias", torch::empty({width}));
  reset_parameters();
}

void NormLayerImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  weight.fill_(kind_ == NormKind::scale ? std::sqrt(static_cast<double>(width_)) : 1.0);
  if (bias.defined()) bias.zero_();
}

torch::Tensor NormLayerImpl::forward(const torch::Tensor& x_ND) {
  if (known_to_kernels() && takes_residual_norm(x_ND, width_)) {
    return residual_norm(x_ND, {}, kernel_parameters(), 0.0);
  }
  // Formula norm: fast paths norm, packed_search, gpu_norm.
  switch (kind_) {
    case NormKind::layer:
      return torch::layer_norm(x_ND, {width_}, weight, bias, epsilon_);
    case NormKind::rms:
      return torch::rms_norm(x_ND, {width_}, weight, epsilon_);
    case NormKind::scale: {
      const double width = static_cast<double>(width_);
      return x_ND * weight / (x_ND.square().sum(-1, /*keepdim=*/true) + width * epsilon_).sqrt();
    }
  }
  TORCH_CHECK(false, "unknown norm");
  // End of formula.
}

torch::Tensor NormLayerImpl::after_residual(const torch::Tensor& x_ND,
                                            const torch::Tensor& update_ND, Dropout dropout) {
  if (known_to_kernels() && takes_residual_norm(x_ND, width_)) {
    return residual_norm(x_ND, update_ND, kernel_parameters(), dropout->probability());
  }
  // Formula norm: fast paths norm, packed_search, gpu_norm.
  return forward(x_ND + dropout(update_ND));
  // End of formula.
}

NormParameters NormLayerImpl::kernel_parameters() const {
  if (kind_ == NormKind::scale) {
    // ‖x‖ = √width √(mean x²): RMSNorm with equal gains.
    const double root = std::sqrt(static_cast<double>(width_));
    return {
        .weight = (weight / root).expand({width_}).contiguous(), .bias = {}, .epsilon = epsilon_};
  }
  return {.weight = weight, .bias = bias, .epsilon = epsilon_};
}

}  // namespace attn
