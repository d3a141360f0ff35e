// How parameters start. The paper is silent; this is what its released code and its successors do.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// Projections and feed-forward matrices uniform after Glorot and Bengio, embeddings normal with
/// deviation d_model^-0.5 (so that, scaled by √d_model, they start with unit variance), learned
/// positions alike, biases 0, norms 1 and 0. Draws from torch's default generator in the order of
/// `named_parameters`.
void initialise(torch::nn::Module& model, int64_t d_model);

}  // namespace attn
