// Section 3.4: embedding lookup times √d_model.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// scale · weight_VD[tokens_N], [N, D]; tokens int64. On a CPU in float32, backward() adds rows to
/// the existing gradient of the weight (kernels/ops/gradient_target.h) instead of allocating one;
/// elsewhere torch::embedding, the reference.
torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale);

}  // namespace attn
