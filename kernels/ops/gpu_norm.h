// residual_norm (kernels/ops/residual_norm.h) by a GPU's kernels. Internal to kernels/.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/norm_parameters.h"

namespace attn::gpu {

/// Whether norms of rows of this width are taken by GPU kernels where x is.
bool takes_norm(const torch::Tensor& x, int64_t width);

/// As attn::residual_norm, for x and update in float32 or bf16; the result is float32.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p);

}  // namespace attn::gpu
