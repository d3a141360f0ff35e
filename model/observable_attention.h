// Base of attention layers whose weights and outputs can be observed.
#pragma once

#include <functional>

#include "kernels/libtorch.h"

namespace attn {

/// What an attention layer computed over a padded batch. Both are part of the autograd graph.
struct ObservedAttention {
  torch::Tensor weights_BHLM;   ///< before dropout; rows sum to 1, or to 0 without keys
  torch::Tensor contexts_BHLK;  ///< weights times values, before the output projection
};

/// A base of attention layers besides torch::nn::Module. While there is an observer, a layer uses
/// its reference implementation, which computes the weights as a tensor.
class ObservableAttention {
 public:
  virtual ~ObservableAttention() = default;

  std::function<void(const ObservedAttention&)> observer;  ///< empty: not observed
};

}  // namespace attn
