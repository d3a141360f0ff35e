// Normalisation over the width of each row.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/residual_norm.h"
#include "model/layers/dropout.h"
#include "model/layers/layer.h"

namespace attn {

/// Layer normalisation of rows [N, D].
class NormLayerImpl : public torch::nn::Module, public Layer {
 public:
  explicit NormLayerImpl(int64_t width);
  void reset_parameters() override;

  torch::Tensor forward(const torch::Tensor& x_ND);
  /// The norm of x + Dropout(update), in one pass.
  torch::Tensor after_residual(const torch::Tensor& x_ND, const torch::Tensor& update_ND,
                               const Dropout& dropout);
  /// What kernels compute with.
  NormParameters kernel_parameters() const;

  torch::Tensor weight, bias;  ///< [D]
};
TORCH_MODULE(NormLayer);

}  // namespace attn
