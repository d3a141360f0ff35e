#include "model/embedding.h"

#include <cmath>

#include "kernels/dropout.h"

namespace attn {

EmbeddingImpl::EmbeddingImpl(const ModelConfig& config)
    : scale_(std::sqrt(static_cast<double>(config.d_model))), dropout_(config.dropout) {
  position = register_module("position", PositionEncoding(config));
}

torch::Tensor EmbeddingImpl::forward(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                                     const torch::Tensor& positions_N, int64_t longest) {
  const torch::Tensor scaled_ND = torch::embedding(weight_VD, tokens_N) * scale_;
  return fast_dropout(position(scaled_ND, positions_N, longest), is_training() ? dropout_ : 0.0);
}

}  // namespace attn
