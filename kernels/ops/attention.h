// Fast attention; the formula is in model/transformer/attention.cpp. By it the base of Table 3 has
// 0.71 of the training speed (results/measurements.md).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"
#include "kernels/ops/attention_options.h"

namespace attn {

/// softmax(Q Kᵀ / √d_k) V for every sentence and head, over rows without padding: queries [N,
/// H·d_k], keys [M, H'·d_k], values [M, H'·d_v] to [N, H·d_v], H' = kv_heads. On a CPU a kernel
/// that computes in float32 (bf16 input gives float32 output); on a GPU LibTorch's memory-efficient
/// kernel for ragged lengths (cu_seqlens), or padded_attention where that is not supported
/// (dropout, head widths that are not a multiple of 8, sentences without keys, a window). A bias
/// and relative positions are supported on a CPU. Differentiable. Tolerance against the formula:
/// 1e-5 on a CPU, 1e-4 on a GPU.
torch::Tensor packed_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                               const torch::Tensor& values, const PackedAttention& options);

/// The same by LibTorch's kernel over the padded layout, on any device, without bias, relative
/// positions and fewer key-value heads than heads (TORCH_CHECK).
torch::Tensor padded_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                               const torch::Tensor& values, const PackedAttention& options);

/// [queries, keys] bool: whether a query may attend to a key of its sentence. `causal` and `window`
/// as in PackedAttention.
torch::Tensor visible_keys(int64_t queries, int64_t keys, bool causal, int64_t window,
                           torch::Device device);

/// One decoding step over a KV cache, on a CPU in float32 and without gradients: row r of queries_R
/// [R, H·d_k] attends to keys[t][past[r][t]] for all t. Keys and values have `kv_heads` heads.
/// bias_HT [H, T], if defined, is added to the scores; `relative` counts distances from the last
/// position.
torch::Tensor step_attention(const torch::Tensor& queries_R, std::span<const torch::Tensor> keys,
                             std::span<const torch::Tensor> values,
                             std::span<const int32_t* const> past, int64_t heads, int64_t kv_heads,
                             const torch::Tensor& bias_HT = {},
                             const RelativeVectors& relative = {});

/// The same for rows in place, by the CPU's kernel on all threads: `out` [count, H·d_v].
void step_attention(const cpu::CachedRows& step, float* out);

}  // namespace attn
