// Options of packed_attention(), and the longest sentence of packed rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/libtorch.h"

namespace attn {

/// Relative positions of self-attention (Shaw et al. 2018): row C + j - i, clipped to [0, 2 C], is
/// added to key and value j for query i. None if undefined.
struct RelativeVectors {
  torch::Tensor keys = {}, values = {};  ///< [2 C + 1, H·d_k] and [2 C + 1, H·d_v]

  bool defined() const { return keys.defined(); }
  int64_t clip() const { return keys.size(0) / 2; }
};

/// Indices of ragged rows on their device; undefined if not available.
struct DeviceRows {
  torch::Tensor starts = {};  ///< cu_seqlens: the offsets as int32, [B + 1]
  torch::Tensor slots = {};   ///< [N] int64: each row's index in the flattened padded layout
};

/// The length of the longest sentence.
inline int64_t longest_of(std::span<const int64_t> offsets) {
  int64_t longest = 0;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    longest = std::max(longest, offsets[b + 1] - offsets[b]);
  }
  return longest;
}

struct PackedAttention {
  int64_t heads;
  int64_t kv_heads = 0;  ///< key and value heads, each for heads / kv_heads heads; 0: as many
  std::span<const int64_t>
      query_offsets;  ///< sentence b owns query rows [offsets[b], offsets[b + 1])
  std::span<const int64_t> key_offsets;  ///< and these rows of keys and values
  bool causal = false;
  /// Restricted self-attention: position i attends to the last `window` positions up to itself if
  /// causal, else to |i - j| <= window / 2; 0: to all. The cost on a CPU grows with it, not with
  /// the length of the sentence.
  int64_t window = 0;
  double dropout = 0.0;  ///< on the weights; 0 outside training
  /// Added to the scores of self-attention by distance, on a CPU: [H, 2 P - 1], P at least the
  /// longest sentence; bias_HP[h][P - 1 + j - i] for query i and key j. Undefined: none.
  torch::Tensor bias_HP = {};
  RelativeVectors relative = {};  ///< on a CPU
  /// Indices for these offsets, on the GPU. Without starts, attention uses the padded layout.
  /// Without slots, it computes and copies them, which synchronizes with the GPU.
  DeviceRows query_rows = {}, key_rows = {};
};

/// packed_attention() of tensors on the CPU, whose shapes have been checked; kv_heads is set.
torch::Tensor cpu_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                            const torch::Tensor& values, const PackedAttention& options);

}  // namespace attn
