// Counter-based dropout: the mask is a pure function of a key and the element's index. Nothing is
// stored for backward, and a resumed run draws the same masks.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/libtorch.h"
#include "kernels/ops/dropout_key.h"

namespace attn {

/// Whether the CPU kernels support the tensor, if it is contiguous: float32, on the CPU's path.
bool runs_on_cpu_kernels(const torch::Tensor& tensor);

/// Inverted dropout with probability `p`; x itself for p = 0. Float32 kernel on a CPU, with
/// runtime.gpu_kernels=on kernels on a GPU, else LibTorch's dropout. The formula is in
/// model/layers/dropout.h.
torch::Tensor fast_dropout(const torch::Tensor& x, double p);

/// The factors of inverted dropout for elements of x, 0 or 1 / (1 - p), with kernels those of
/// fast_dropout.
torch::Tensor dropout_factors(const torch::Tensor& x, double p);

/// The same for attention weights in the padded layout, [B, heads, longest queries, longest keys]:
/// on a CPU those of packed_attention.
torch::Tensor attention_dropout_factors(std::span<const int64_t> query_offsets,
                                        std::span<const int64_t> key_offsets, int64_t heads,
                                        double p, torch::Device device);

/// The counter of the first weight of a head in packed_attention; the others follow, query by
/// query.
uint64_t first_weight(int64_t sentence, int64_t heads, int64_t head);

}  // namespace attn
