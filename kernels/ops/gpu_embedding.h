// Token embeddings with positions and dropout by a GPU's kernels (kernels/cuda/embedding.cu).
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// Whether gpu_embedding is taken for this matrix.
bool takes_gpu_embedding(const torch::Tensor& weight_VD);

/// dropout(scale · weight_VD[tokens_N] + table_PD[positions_N]), [N, D] in the type of the residual
/// stream; indices are int64. Differentiable in the weight, to whose existing gradient backward()
/// adds (kernels/ops/gradient_target.h), in the order of the rows.
torch::Tensor gpu_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                            double scale, const torch::Tensor& table_PD,
                            const torch::Tensor& positions_N, double p);

}  // namespace attn
