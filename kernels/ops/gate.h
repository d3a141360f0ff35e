// The product of gated feed-forward networks.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// silu(gate) ⊙ x, of equal shapes, on a CPU: one float32 kernel each for forward and backward.
/// Differentiable. Tolerance against the formula (model/transformer/feed_forward.cpp): 1e-6.
torch::Tensor silu_gate(const torch::Tensor& gate, const torch::Tensor& x);

/// The parts of silu_gate on a CPU, without autograd: contiguous float32 tensors.
torch::Tensor silu_gate_forward(const torch::Tensor& gate, const torch::Tensor& x);
/// The gradients of gate and x from that of the product.
torch::autograd::variable_list silu_gate_backward(const torch::Tensor& gate, const torch::Tensor& x,
                                                  const torch::Tensor& d_product);

}  // namespace attn
