// Section 3.3: the position-wise feed-forward network.
#pragma once

#include "kernels/libtorch.h"
#include "model/layers/dropout.h"
#include "model/layers/linear.h"
#include "model/transformer/config.h"

namespace attn {

/// Equation 2: max(0, x W1 + b1) W2 + b2, the same at every position; or gated (Shazeer 2020):
/// W2(act(W x) ⊙ V x) with act = SiLU (swiglu) or GELU (geglu), W = gate, V = inner.
class PositionwiseFeedForwardImpl : public torch::nn::Module {
 public:
  explicit PositionwiseFeedForwardImpl(const TransformerConfig& config);
  /// [N, D] to [N, D].
  torch::Tensor forward(const torch::Tensor& x_ND);

  Linear gate = nullptr;  ///< gated networks only
  Linear inner = nullptr, outer = nullptr;
  Dropout dropout = nullptr;

 private:
  torch::Tensor hidden(const torch::Tensor& x_ND);

  Activation activation_;
};
TORCH_MODULE(PositionwiseFeedForward);

}  // namespace attn
