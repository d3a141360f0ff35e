// Initialization. The paper does not specify it; this follows the released code and its successors:
// linear layers Xavier uniform with zero biases, norms 1 and 0, embeddings and learned positions
// normal with standard deviation d_model^-0.5 (so that embeddings, scaled by √d_model, have unit
// variance). The recurrent models keep LibTorch's initialization of linear layers, uniform within
// ±1 / √inputs, biases included.
#pragma once

#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// A module with parameters of its own, which it initializes.
class Layer {
 public:
  virtual ~Layer() = default;
  /// Initializes its own parameters, not its children's, from torch's default generator.
  virtual void reset_parameters() = 0;
  /// Its matrices from hidden units to hidden units, [outputs, inputs], which some optimizers and
  /// parametrizations treat differently from embeddings, the output projection, biases and gains.
  virtual std::vector<torch::Tensor> hidden_matrices() const { return {}; }
};

/// Resets the layers below `root` in the order of modules(), on which the random numbers depend.
inline void reset_layers(const torch::nn::Module& root) {
  for (const auto& module : root.modules(/*include_self=*/false)) {
    if (auto* layer = dynamic_cast<Layer*>(module.get())) layer->reset_parameters();
  }
}

}  // namespace attn
