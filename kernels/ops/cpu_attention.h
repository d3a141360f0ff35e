// packed_attention() on a CPU. Internal to kernels/ops.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/attention_options.h"

namespace attn {

/// packed_attention() of tensors on the CPU, whose shapes have been checked; kv_heads is set.
torch::Tensor cpu_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                            const torch::Tensor& values, const PackedAttention& options);

}  // namespace attn
