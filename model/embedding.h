// Section 3.4: token embeddings times √d_model, plus positions (3.5), with dropout on the sum
// (5.4).
#pragma once

#include "kernels/libtorch.h"
#include "model/config.h"
#include "model/position.h"

namespace attn {

/// One side's embedding. The matrix is handed in, since source, target and the pre-softmax
/// projection may share it.
class EmbeddingImpl : public torch::nn::Module {
 public:
  explicit EmbeddingImpl(const ModelConfig& config);

  /// tokens_N (int64) with their positions_N to [N, D]; `longest` bounds the positions.
  torch::Tensor forward(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                        const torch::Tensor& positions_N, int64_t longest);

  PositionEncoding position = nullptr;

 private:
  double scale_;
  double dropout_;
};
TORCH_MODULE(Embedding);

}  // namespace attn
