// Section 3.4: rows of the embedding matrix, times √d_model.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// scale · weight_VD[tokens_N], [N, D]; tokens int64. On a CPU in float32 backward() adds the rows
/// to the weight's own gradient (kernels/ops/gradient_target.h) instead of making one of the whole
/// vocabulary; elsewhere torch::embedding, which also defines it.
torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale);

}  // namespace attn
