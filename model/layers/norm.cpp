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
  return lone_norm(x_ND, kernel_parameters());
}

torch::Tensor NormLayerImpl::after_residual(const torch::Tensor& x_ND,
                                            const torch::Tensor& update_ND,
                                            const Dropout& dropout) {
  return residual_norm(x_ND, update_ND, kernel_parameters(), dropout->probability());
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
