// Section 5.4: dropout (kernels/ops/dropout.h).
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/dropout.h"

namespace attn {

class DropoutImpl : public torch::nn::Module {
 public:
  explicit DropoutImpl(double probability) : probability_(probability) {}
  /// For fused kernels: 0 in evaluation mode.
  double probability() const { return is_training() ? probability_ : 0.0; }
  torch::Tensor forward(const torch::Tensor& x) { return fast_dropout(x, probability()); }

 private:
  double probability_;
};
TORCH_MODULE(Dropout);

}  // namespace attn
