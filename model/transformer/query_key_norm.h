// QK-norm: normalization of each head's queries and keys, so that scores stay bounded.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/residual_norm.h"
#include "model/layers/layer.h"
#include "model/transformer/config.h"

namespace attn {

/// QkNorm::l2 (Henry et al. 2020): scores g · (q / ‖q‖) · (k / ‖k‖) with one learned g per
/// attention, at first log2(L² - L). QkNorm::rms (as in Dehghani et al. 2023, with RMSNorm): each
/// head's q and k are normalized with gains [d_k] that all heads share. Both come before a
/// rotation. Rows are [N, heads · d_k].
class QueryKeyNormImpl : public torch::nn::Module, public Layer {
 public:
  explicit QueryKeyNormImpl(const TransformerConfig& config);
  void reset_parameters() override;

  /// Queries for attention that divides scores by √d_k.
  torch::Tensor queries(const torch::Tensor& x_NE) const;
  torch::Tensor keys(const torch::Tensor& x_NE) const;

  torch::Tensor scale;                     ///< [1], g of l2
  torch::Tensor query_weight, key_weight;  ///< [d_k], gains of rms

 private:
  torch::Tensor normalized_heads(const torch::Tensor& x_NE, const torch::Tensor& weight_K) const;

  QkNorm kind_;
  int64_t d_k_;
  double first_scale_;
};
TORCH_MODULE(QueryKeyNorm);

}  // namespace attn
