// Section 3.1 and 5.4: the residual connection, layer normalization and dropout around every
// sub-layer.
#pragma once

#include "kernels/compute_scope.h"
#include "kernels/libtorch.h"
#include "kernels/ops/gpu_norm.h"
#include "model/layers/dropout.h"
#include "model/layers/norm.h"
#include "model/transformer/config.h"

namespace attn {

/// The norm of sub-layers, and after the last layer with norm = pre.
inline NormLayer make_norm(const TransformerConfig& config) {
  return NormLayer(config.norm_kind, config.d_model);
}

/// Rows of the residual stream, between sub-layers, in its type (train.residual_precision).
inline torch::Tensor in_residual_type(const torch::Tensor& x_ND) {
  return x_ND.to(ComputeScope::residual_type().value_or(x_ND.scalar_type()));
}

/// LayerNorm(x + Dropout(Sublayer(x))), or x + Dropout(Sublayer(LayerNorm(x))) with norm = pre, or
/// LayerNorm(α x + Dropout(Sublayer(x))) with norm = deep.
class SublayerImpl : public torch::nn::Module {
 public:
  explicit SublayerImpl(const TransformerConfig& config) : order_(config.norm) {
    norm = register_module("norm", make_norm(config));
    dropout = register_module("dropout", Dropout(config.dropout));
  }

  /// `sublayer` maps [N, D] to [N, D].
  template <class F>
  torch::Tensor forward(const torch::Tensor& x_ND, F&& sublayer) {
    return in_residual_type(added(x_ND, sublayer));
  }

  NormLayer norm = nullptr;
  Dropout dropout = nullptr;
  double residual_scale = 1.0;  ///< α of DeepNorm, set by set_scales (scaling.h)

 private:
  template <class F>
  torch::Tensor added(const torch::Tensor& x_ND, F&& sublayer) {
    if (order_ == Norm::pre && norm->known_to_kernels() && gpu::takes_norm(x_ND, x_ND.size(1))) {
      const auto [normed_ND, own_ND] = gpu::norm_beside(x_ND, norm->kernel_parameters());
      return gpu::residual_sum(own_ND, sublayer(normed_ND), dropout->probability());
    }
    // Formula sublayer: fast paths packed_search, gpu_norm.
    switch (order_) {
      case Norm::post:
        return norm->after_residual(x_ND, sublayer(x_ND), dropout);
      case Norm::deep:
        return norm->after_residual(residual_scale * x_ND, sublayer(x_ND), dropout);
      case Norm::pre:
        return x_ND + dropout(sublayer(norm(x_ND)));
    }
    TORCH_CHECK(false, "unknown norm");
    // End of formula.
  }

  Norm order_;
};
TORCH_MODULE(Sublayer);

}  // namespace attn
