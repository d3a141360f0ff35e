// Section 3.1 and 5.4: the residual connection, layer normalisation and dropout around every
// sub-layer.
#pragma once

#include "kernels/libtorch.h"
#include "model/transformer/config.h"

namespace attn {

/// LayerNorm(x + Dropout(Sublayer(x))), or x + Dropout(Sublayer(LayerNorm(x))) with norm = pre.
class SublayerImpl : public torch::nn::Module {
 public:
  explicit SublayerImpl(const TransformerConfig& config);

  /// `sublayer` maps [N, D] to [N, D].
  template <class F>
  torch::Tensor forward(const torch::Tensor& x_ND, F&& sublayer) {
    switch (order_) {
      case Norm::post:
        return add_and_normalise(x_ND, sublayer(x_ND));
      case Norm::pre:
        return add(x_ND, sublayer(norm(x_ND)));
    }
    TORCH_CHECK(false, "no such norm");
  }

  torch::nn::LayerNorm norm = nullptr;

 private:
  torch::Tensor add(const torch::Tensor& x_ND, const torch::Tensor& update_ND);
  torch::Tensor add_and_normalise(const torch::Tensor& x_ND, const torch::Tensor& update_ND);

  Norm order_;
  double dropout_;
};
TORCH_MODULE(Sublayer);

}  // namespace attn
