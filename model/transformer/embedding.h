// Section 3.4: token embeddings times √d_model, plus positions (3.5), with dropout on the sum
// (5.4). Not in the paper: a second encoding on the decoder's side, of how many words its tree has.
#pragma once

#include "kernels/libtorch.h"
#include "model/layers/dropout.h"
#include "model/transformer/config.h"
#include "model/transformer/position.h"

namespace attn {

/// One side's embedding. The matrix is handed in, since source, target and the pre-softmax
/// projection may share it.
class EmbeddingImpl : public torch::nn::Module {
 public:
  EmbeddingImpl(const TransformerConfig& config, bool word_positions);

  /// tokens_N (int64) with their positions_N to [N, D]; `longest` bounds the positions.
  /// second_N: each row's second index, less than `longest`; only with word positions.
  torch::Tensor forward(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                        const torch::Tensor& positions_N, int64_t longest,
                        const torch::Tensor& second_N = {});

  PositionEncoding position = nullptr;
  PositionEncoding word_position = nullptr;  ///< only with word positions
  Dropout dropout = nullptr;

 private:
  double scale_;
};
TORCH_MODULE(Embedding);

}  // namespace attn
