#include "model/transformer/query_key_norm.h"

#include <cmath>

namespace attn {

QueryKeyNormImpl::QueryKeyNormImpl(const TransformerConfig& config)
    : kind_(config.qk_norm), d_k_(config.key_width()) {
  const auto length = static_cast<double>(config.qk_norm_length);
  first_scale_ = std::log2(length * length - length);
  if (kind_ == QkNorm::l2) {
    scale = register_parameter("scale", torch::empty({1}));
  } else {
    query_weight = register_parameter("query_weight", torch::empty({d_k_}));
    key_weight = register_parameter("key_weight", torch::empty({d_k_}));
  }
}

void QueryKeyNormImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  if (scale.defined()) scale.fill_(first_scale_);
  for (auto* gains : {&query_weight, &key_weight}) {
    if (gains->defined()) gains->fill_(1.0);
  }
}

// ‖x‖ = √d_k √(mean x²), so that both kinds are RMSNorm with some gains: those of l2 are g for
// queries and 1/√d_k for keys, whose product attention divides by √d_k.
torch::Tensor QueryKeyNormImpl::queries(const torch::Tensor& x_NE) const {
  return normalized_heads(x_NE, kind_ == QkNorm::l2 ? scale.expand({d_k_}) : query_weight);
}

torch::Tensor QueryKeyNormImpl::keys(const torch::Tensor& x_NE) const {
  if (kind_ == QkNorm::rms) return normalized_heads(x_NE, key_weight);
  const double inverse_root = 1 / std::sqrt(static_cast<double>(d_k_));
  return normalized_heads(x_NE, torch::full({d_k_}, inverse_root, scale.options()));
}

torch::Tensor QueryKeyNormImpl::normalized_heads(const torch::Tensor& x_NE,
                                                 const torch::Tensor& weight_K) const {
  constexpr double kEpsilon = 1e-6;
  const torch::Tensor heads = x_NE.reshape({-1, d_k_});
  if (takes_residual_norm(heads, d_k_)) {
    const NormParameters parameters{.weight = weight_K.contiguous(), .epsilon = kEpsilon};
    return residual_norm(heads, {}, parameters, 0.0).view(x_NE.sizes());
  }
  // Formula query_key_norm: fast paths norm, gpu_norm.
  return torch::rms_norm(heads, {d_k_}, weight_K, kEpsilon).view(x_NE.sizes());
  // End of formula.
}

}  // namespace attn
