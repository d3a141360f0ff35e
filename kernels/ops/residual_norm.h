// The seam around every post-norm sub-layer in one pass over memory.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// LayerNorm(x + Dropout(update)) over the last dimension, weight and bias [D]. On a CPU one kernel
/// forward and one backward, computing in float32; elsewhere the three operations one after the
/// other. With p = 0 it agrees with them to 1e-6; with dropout the mask is drawn as in
/// fast_dropout.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const torch::Tensor& weight, const torch::Tensor& bias, double epsilon,
                            double p);

}  // namespace attn
