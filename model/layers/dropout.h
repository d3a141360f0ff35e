// Section 5.4: dropout in training alone (kernels/ops/dropout.h).
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/dropout.h"

namespace attn {

class DropoutImpl : public torch::nn::Module {
 public:
  explicit DropoutImpl(double probability) : probability_(probability) {}
  /// For kernels that drop out on the way: 0 outside training.
  double probability() const { return is_training() ? probability_ : 0.0; }
  torch::Tensor forward(const torch::Tensor& x) { return fast_dropout(x, probability()); }

 private:
  double probability_;
};
TORCH_MODULE(Dropout);

}  // namespace attn
