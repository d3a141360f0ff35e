// Section 3.2: scaled dot-product attention and multi-head attention.
#pragma once

#include <span>

#include "kernels/libtorch.h"
#include "model/layers/dropout.h"
#include "model/layers/linear.h"
#include "model/observable_attention.h"
#include "model/segments.h"
#include "model/step_ancestors.h"
#include "model/transformer/config.h"
#include "model/transformer/position.h"
#include "model/transformer/query_key_norm.h"
#include "model/transformer/relative.h"

namespace attn {

/// Which rows attend to which, as ragged lengths instead of a mask: query sentence b attends to key
/// sentence b; `causal` masks the keys after position i (section 3.2.3). `position` rotates queries
/// and keys, or is added to the scores.
struct AttentionSpec {
  const Segments& queries;
  const Segments& keys;
  bool causal = false;
  /// Restricted self-attention (section 4): |i - j| <= window / 2, or the last `window` positions,
  /// itself included, if causal; 0: all.
  int64_t window = 0;
  PositionInScores position = {};

  /// The mask of the padded layout, [B, 1, L, M] bool: true = may attend.
  torch::Tensor mask() const;
};

struct AttentionResult {
  torch::Tensor output;   ///< [B, H, L, K]
  torch::Tensor weights;  ///< [B, H, L, M], before dropout; each row sums to 1, or to 0 where
                          ///< all keys are masked
};

/// Equation 1: softmax(Q Kᵀ / √d_k) V over padded [B, H, L or M, K] tensors; keys
/// and values may have fewer heads, each for a group of consecutive query heads. Masked scores are
/// -∞ before the softmax; a query without any key gets zero weights and output, not NaN.
/// `dropout_BHLM`: factors of the weights, undefined without dropout. With `relative` the queries
/// are the last L of the M positions.
AttentionResult scaled_dot_product_attention(const torch::Tensor& queries_BHLK,
                                             const torch::Tensor& keys_BHMK,
                                             const torch::Tensor& values_BHMK,
                                             const torch::Tensor& mask_B1LM,
                                             const torch::Tensor& bias_HLM = {},
                                             const torch::Tensor& dropout_BHLM = {},
                                             const RelativePositions& relative = nullptr);

/// Projected keys and values, as the KV cache holds them.
struct KeysValues {
  torch::Tensor keys;    ///< [N, H'·d_k], H' = kv_heads; normalized and rotated
  torch::Tensor values;  ///< [N, H'·d_v]
};

/// Section 3.2.2, for all three uses of section 3.2.3: encoder self-attention (memory = queries),
/// masked decoder self-attention (causal) and cross-attention (memory = the encoder's output).
class MultiHeadAttentionImpl : public torch::nn::Module, public ObservableAttention {
 public:
  MultiHeadAttentionImpl(const TransformerConfig& config, AttentionKind kind);

  /// queries_ND attend to memory_ND under `spec`; returns [N, D].
  torch::Tensor forward(const torch::Tensor& queries_ND, const torch::Tensor& memory_ND,
                        const AttentionSpec& spec);
  /// The same with keys and values that are already projected.
  torch::Tensor attend(const torch::Tensor& queries_ND, const KeysValues& memory,
                       const AttentionSpec& spec);
  /// One decoding step: each of the [R, D] rows attends to its own prefix, itself included, of
  /// which cache[t] holds the keys and values of position t, for the rows of that step. In `spec` a
  /// row and the last positions of its prefix are a sentence.
  torch::Tensor attend(const torch::Tensor& queries_RD, std::span<const KeysValues> cache,
                       const StepAncestors& ancestors, const AttentionSpec& spec);
  /// Keys and values of rows, for attend().
  KeysValues project(const torch::Tensor& memory_ND, const Rotation& rotation = {});
  int64_t heads() const { return heads_; }

  Linear query = nullptr, key = nullptr, value = nullptr;  ///< W^Q, W^K, W^V of all heads
  Linear output = nullptr;                                 ///< W^O
  Dropout weights_dropout = nullptr;
  QueryKeyNorm qk_norm = nullptr;        ///< only with model.qk_norm
  RelativePositions relative = nullptr;  ///< only of self-attention with position = relative

 private:
  // Projected queries and keys, normalized and rotated.
  torch::Tensor prepared_queries(const torch::Tensor& projected, const Rotation& rotation) const;
  torch::Tensor prepared_keys(const torch::Tensor& projected, const Rotation& rotation) const;
  bool runs_on_kernels(const PositionInScores& position) const;
  // For the kernels; undefined without relative positions.
  RelativeVectors relative_vectors() const;
  torch::Tensor attend_prepared(const torch::Tensor& queries, const KeysValues& memory,
                                const AttentionSpec& spec);
  int64_t heads_, key_heads_;
  double query_scale_;  // µP; 1 without it
  bool on_kernels_;     // whether the attention kernels compute its options
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace attn
