// Relative positions (Shaw et al. 2018, "Self-Attention with Relative Position Representations").
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/attention_options.h"
#include "model/layers/layer.h"
#include "model/transformer/config.h"

namespace attn {

/// Learned vectors for each clipped distance of one self-attention, of its own for each head: a^K
/// is added to keys and a^V to values. The queries are the last L of the M positions.
class RelativePositionsImpl : public torch::nn::Module, public Layer {
 public:
  explicit RelativePositionsImpl(const TransformerConfig& config);
  /// Normal with standard deviation d_k^-0.5 (d_v^-0.5); with µP those of the base.
  void reset_parameters() override;

  /// Σ_c q_c a^K_c of each query and key, [B, H, L, M], from queries [B, H, L, K].
  torch::Tensor scores(const torch::Tensor& queries_BHLK, int64_t keys) const;
  /// Σ_j weight_j a^V of each query, [B, H, L, K], from weights [B, H, L, M].
  torch::Tensor values(const torch::Tensor& weights_BHLM) const;

  /// All heads side by side, for packed_attention.
  RelativeVectors vectors() const;

  torch::Tensor key_weight;    ///< [heads, 2 kRelativeClip + 1, d_k]
  torch::Tensor value_weight;  ///< [heads, 2 kRelativeClip + 1, d_v]

 private:
  double width_ratio_;  // µP; 1 without it
};
TORCH_MODULE(RelativePositions);

}  // namespace attn
