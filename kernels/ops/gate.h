// The product of gated feed-forward networks.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// silu(gate) ⊙ x, of equal shapes: on a CPU one float32 kernel each for forward and backward,
/// elsewhere LibTorch's operations. Differentiable. Tolerance between the two: 1e-6.
torch::Tensor silu_gate(const torch::Tensor& gate, const torch::Tensor& x);

}  // namespace attn
