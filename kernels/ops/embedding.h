// Section 3.4: embedding lookup times √d_model.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// scale · weight_VD[tokens_N], [N, D]; tokens int64. On a CPU in float32, backward() adds rows to
/// the existing gradient of the weight (kernels/ops/gradient_target.h) instead of allocating one;
/// elsewhere torch::embedding, the reference.
torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale);

/// Row n of the result [N, D] is scale times the sum of weight_VD[ids_F[i]] over offsets_N1[n] <= i
/// < offsets_N1[n + 1]; a row without ids is 0. Both index tensors are int64. On a CPU in float32,
/// backward() adds to the existing gradient, as above; elsewhere torch::embedding_bag, the
/// reference.
torch::Tensor scaled_embedding_sum(const torch::Tensor& weight_VD, const torch::Tensor& ids_F,
                                   const torch::Tensor& offsets_N1, double scale);

}  // namespace attn
