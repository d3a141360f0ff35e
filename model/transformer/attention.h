// Section 3.2: scaled dot-product attention and multi-head attention.
#pragma once

#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/dropout.h"
#include "model/layers/linear.h"
#include "model/segments.h"
#include "model/transformer/config.h"
#include "model/transformer/position.h"

namespace attn {

/// Who may attend to whom: each query sentence to the key sentence of the same number; `causal`
/// keeps position i from seeing keys after i (section 3.2.3). `position` turns queries and keys, or
/// shifts the scores before the softmax.
struct AttentionScope {
  const Segments& queries;
  const Segments& keys;
  bool causal = false;
  PositionInScores position = {};

  /// [B, 1, L, M] bool, true = may attend: the padding and the future are not.
  torch::Tensor allowed() const;
};

struct AttentionResult {
  torch::Tensor output;   ///< [B, H, L, K]
  torch::Tensor weights;  ///< [B, H, L, M], before dropout; each row sums to 1, or to 0 where
                          ///< nothing is allowed
};

/// Equation 1, written out: softmax(Q Kᵀ / √d_k) V over padded [B, H, L or M, K] tensors. Positions
/// that are not allowed get -∞ before the softmax; a query that may attend to nothing gets weights
/// and output zero, not NaN.
AttentionResult scaled_dot_product_attention(const torch::Tensor& queries_BHLK,
                                             const torch::Tensor& keys_BHMK,
                                             const torch::Tensor& values_BHMK,
                                             const torch::Tensor& allowed_B1LM,
                                             const torch::Tensor& bias_HLM = {},
                                             double dropout = 0.0);

/// Keys and values of a memory, projected: what decoding keeps instead of the memory itself.
struct KeysValues {
  torch::Tensor keys;    ///< [N, H·d_k]
  torch::Tensor values;  ///< [N, H·d_v]
};

/// Section 3.2.2. Its three uses (section 3.2.3) differ in arguments alone: encoder self-attention
/// (memory = queries), masked decoder self-attention (causal), and attention of the decoder over
/// the encoder's output.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const TransformerConfig& config);

  /// queries_ND rows attend to memory_ND rows as `scope` says; returns [N, D].
  torch::Tensor forward(const torch::Tensor& queries_ND, const torch::Tensor& memory_ND,
                        const AttentionScope& scope);
  /// The same, with keys and values that were projected before.
  torch::Tensor attend(const torch::Tensor& queries_ND, const KeysValues& memory,
                       const AttentionScope& scope);
  /// One position of search: each of the [R, D] rows attends to its own past and itself. steps[t]
  /// holds the keys and values of position t, ancestors[t][r] the row there that row r descends
  /// from. `position` as in AttentionScope; the keys have been turned.
  torch::Tensor attend_to_steps(const torch::Tensor& queries_RD, std::span<const KeysValues> steps,
                                std::span<const std::vector<int32_t>> ancestors,
                                const PositionInScores& position = {});
  KeysValues project(const torch::Tensor& memory_ND, const Rotation& rotation = {});
  /// The weights of every head, [B, H, L, M], by the readable path.
  torch::Tensor weights(const torch::Tensor& queries_ND, const torch::Tensor& memory_ND,
                        const AttentionScope& scope);

  Linear query = nullptr, key = nullptr, value = nullptr;  ///< W^Q, W^K, W^V of all heads
  Linear output = nullptr;                                 ///< W^O
  Dropout weights_dropout = nullptr;

 private:
  // `queries` are projected, but not turned yet.
  torch::Tensor attend_projected(const torch::Tensor& projected, const KeysValues& memory,
                                 const AttentionScope& scope);
  AttentionResult attend_readably(const torch::Tensor& queries, const KeysValues& memory,
                                  const AttentionScope& scope);
  int64_t heads_;
  AttentionPath path_;
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace attn
