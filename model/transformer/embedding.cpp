#include "model/transformer/embedding.h"

#include <cmath>

#include "kernels/ops/gpu_embedding.h"
#include "model/embedding_matrices.h"
#include "model/transformer/sublayer.h"

namespace attn {

EmbeddingImpl::EmbeddingImpl(const TransformerConfig& config, bool word_positions, bool causal)
    : scale_(std::sqrt(static_cast<double>(config.base_width()))) {
  position = register_module("position", PositionEncoding(config, causal));
  if (word_positions) {
    word_position = register_module("word_position", PositionEncoding(config, causal));
  }
  dropout = register_module("dropout", Dropout(config.dropout));
}

torch::Tensor EmbeddingImpl::forward(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                                     const torch::Tensor& positions_N, int64_t longest,
                                     const torch::Tensor& word_index_N,
                                     const torch::Tensor& added_ND) {
  if (!added_ND.defined() && !word_position && takes_gpu_embedding(weight_VD)) {
    const torch::Tensor table_PD = position->table(longest, weight_VD.device());
    if (table_PD.defined()) {
      return gpu_embedding(weight_VD, tokens_N, scale_, table_PD, positions_N,
                           dropout->probability());
    }
  }
  // Formula embedded: fast path gpu_embedding.
  torch::Tensor x_ND = scaled_embedding(weight_VD, tokens_N, scale_);
  if (added_ND.defined()) x_ND = x_ND + added_ND;
  x_ND = position(x_ND, positions_N, longest);
  if (word_position) {
    // Reversed, so that high frequencies of one encoding meet low frequencies of the other and the
    // sum still identifies both positions.
    x_ND = word_position(x_ND.flip(1), word_index_N, longest).flip(1);
  }
  return in_residual_type(dropout(x_ND));
  // End of formula.
}

}  // namespace attn
