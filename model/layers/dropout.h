// Section 5.4: dropout (kernels/ops/dropout.h).
#pragma once

#include "kernels/compute_scope.h"
#include "kernels/libtorch.h"
#include "kernels/ops/dropout.h"

namespace attn {

/// Inverted dropout with probability p.
inline torch::Tensor dropped_out(const torch::Tensor& x, double p) {
  if (p <= 0.0) return x;
  if (ComputeScope::takes(FastPath::dropout)) return fast_dropout(x, p);
  // Formula dropout: fast paths norm, dropout, attention, gpu_norm, gpu_dropout, gpu_embedding.
  return x * dropout_factors(x, p);  // 0 with probability p, else 1 / (1 - p)
  // End of formula.
}

class DropoutImpl : public torch::nn::Module {
 public:
  explicit DropoutImpl(double probability) : probability_(probability) {}
  /// For fused kernels: 0 in evaluation mode.
  double probability() const { return is_training() ? probability_ : 0.0; }
  torch::Tensor forward(const torch::Tensor& x) { return dropped_out(x, probability()); }

 private:
  double probability_;
};
TORCH_MODULE(Dropout);

}  // namespace attn
