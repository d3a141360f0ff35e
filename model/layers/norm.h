// Layer normalization, RMSNorm and ScaleNorm.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/residual_norm.h"
#include "model/layers/dropout.h"
#include "model/layers/layer.h"
#include "model/layers/norm_kind.h"

namespace attn {

/// [N, D] to [N, D].
class NormLayerImpl : public torch::nn::Module, public Layer {
 public:
  NormLayerImpl(NormKind kind, int64_t width);
  void reset_parameters() override;

  torch::Tensor forward(const torch::Tensor& x_ND);
  /// norm(x + dropout(update)), fused.
  torch::Tensor after_residual(const torch::Tensor& x_ND, const torch::Tensor& update_ND,
                               Dropout dropout);
  /// Whether the kernels compute this kind with kernel_parameters(); a new one is as it is read.
  bool known_to_kernels() const {
    return kind_ == NormKind::layer || kind_ == NormKind::rms || kind_ == NormKind::scale;
  }
  /// Parameters for kernels.
  NormParameters kernel_parameters() const;

  torch::Tensor weight;  ///< [D]; [1] of ScaleNorm
  torch::Tensor bias;    ///< [D], layer normalization only

 private:
  NormKind kind_;
  int64_t width_;
  double epsilon_;
};
TORCH_MODULE(NormLayer);

}  // namespace attn
