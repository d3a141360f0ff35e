// Section 3.4: token embeddings times √d_model, plus position encodings (3.5), with dropout on the
// sum (5.4). Not in the paper: an encoding of the word index on the decoder side
// (model.word_positions).
#pragma once

#include "kernels/libtorch.h"
#include "model/layers/dropout.h"
#include "model/transformer/config.h"
#include "model/transformer/position.h"

namespace attn {

/// The embedding of one side. The matrix is an argument, since it may be shared.
class EmbeddingImpl : public torch::nn::Module {
 public:
  /// `causal`: true in the decoder, whose positions look back only.
  EmbeddingImpl(const TransformerConfig& config, bool word_positions, bool causal);

  /// tokens_N and positions_N (int64) to [N, D]; positions are less than `longest`, and so is
  /// word_index_N (word_index.h), which only word positions need. added_ND: added to the scaled
  /// token embeddings, if defined.
  torch::Tensor forward(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                        const torch::Tensor& positions_N, int64_t longest,
                        const torch::Tensor& word_index_N = {}, const torch::Tensor& added_ND = {});

  /// The factor of embeddings: √d_model, with µP √ of the base model's d_model.
  double scale() const { return scale_; }

  PositionEncoding position = nullptr;
  PositionEncoding word_position = nullptr;  ///< only with word positions
  Dropout dropout = nullptr;

 private:
  double scale_;
};
TORCH_MODULE(Embedding);

}  // namespace attn
