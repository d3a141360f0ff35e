// Grouped-query attention by kernels that have as many key and value heads as heads.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// Rows [M, heads · K] as [M, heads · group · K]: each head `group` times in a row. Differentiable.
/// On a CPU one float32 loop each for forward and backward, elsewhere LibTorch's operations.
torch::Tensor repeated_heads(const torch::Tensor& rows, int64_t heads, int64_t group);

}  // namespace attn
