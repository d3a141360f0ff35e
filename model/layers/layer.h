// How parameters start. The paper is silent; this is what its released code and its successors do:
// linear maps uniform after Glorot and Bengio with biases 0, norms 1 and 0, embeddings and learned
// positions normal with deviation d_model^-0.5 (so that embeddings, scaled by √d_model, start with
// unit variance).
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// A module that has parameters of its own and knows how they start.
class Layer {
 public:
  virtual ~Layer() = default;
  /// Sets its own parameters, not its children's, drawing from torch's default generator.
  virtual void reset_parameters() = 0;
};

/// Resets the layers below `root`, in the order in which modules list their parameters.
void reset_layers(const torch::nn::Module& root);

}  // namespace attn
