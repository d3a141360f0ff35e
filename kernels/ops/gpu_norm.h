// Norms and residual connections by a GPU's kernels.
#pragma once

#include <utility>

#include "kernels/libtorch.h"
#include "kernels/ops/norm_parameters.h"

namespace attn::gpu {

/// Whether norms of rows of this width are taken by GPU kernels where x is.
bool takes_norm(const torch::Tensor& x, int64_t width);

/// As attn::residual_norm, for x and update in float32 or bf16; the result is of the type of x, or
/// float32 without an update.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p);

/// With norm=pre: the norm of x, in its type, and x for the residual connection. One kernel
/// computes the gradient of both.
std::pair<torch::Tensor, torch::Tensor> norm_beside(const torch::Tensor& x,
                                                    const NormParameters& parameters);
/// x + Dropout(update), in the type of x.
torch::Tensor residual_sum(const torch::Tensor& x, const torch::Tensor& update, double p);

}  // namespace attn::gpu
