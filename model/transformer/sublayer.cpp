#include "model/transformer/sublayer.h"

#include "kernels/ops/dropout.h"
#include "kernels/ops/residual_norm.h"

namespace attn {

SublayerImpl::SublayerImpl(const TransformerConfig& config)
    : order_(config.norm), dropout_(config.dropout) {
  norm =
      register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({config.d_model})));
}

torch::Tensor SublayerImpl::add(const torch::Tensor& x_ND, const torch::Tensor& update_ND) {
  return x_ND + fast_dropout(update_ND, is_training() ? dropout_ : 0.0);
}

torch::Tensor SublayerImpl::add_and_normalise(const torch::Tensor& x_ND,
                                              const torch::Tensor& update_ND) {
  // LayerNorm(x + Dropout(update)), in one pass.
  return residual_norm(x_ND, update_ND, norm->weight, norm->bias, norm->options.eps(),
                       is_training() ? dropout_ : 0.0);
}

}  // namespace attn
