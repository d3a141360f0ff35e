#include "model/transformer/feed_forward.h"

#include "kernels/ops/gpu_linear.h"

namespace attn {

PositionwiseFeedForwardImpl::PositionwiseFeedForwardImpl(const TransformerConfig& config)
    : activation_(config.activation) {
  const auto layer = [&](int64_t in, int64_t out) {
    return Linear(torch::nn::LinearOptions(in, out).bias(config.feed_forward_bias));
  };
  if (is_gated(activation_)) gate = register_module("gate", layer(config.d_model, config.d_ff));
  inner = register_module("inner", layer(config.d_model, config.d_ff));
  outer = register_module("outer", layer(config.d_ff, config.d_model));
  dropout = register_module("dropout", Dropout(config.activation_dropout));
}

torch::Tensor PositionwiseFeedForwardImpl::hidden(const torch::Tensor& x_ND) {
  switch (activation_) {
    case Activation::relu:
      if (weight_copies(x_ND) != nullptr) return joint_relu(x_ND, inner->weights());
      // Formula relu: fast paths packed_search, gpu_linear.
      return torch::relu(inner(x_ND));
      // End of formula.
    case Activation::gelu:
      return torch::gelu(inner(x_ND));
    case Activation::silu:
      return torch::silu(inner(x_ND));
    case Activation::geglu: {
      const auto both = project_all(x_ND, {gate, inner});
      return torch::gelu(both[0]) * both[1];
    }
    case Activation::swiglu: {
      const auto both = project_all(x_ND, {gate, inner});
      // Formula silu_gate: fast path packed_search.
      return torch::silu(both[0]) * both[1];
      // End of formula.
    }
  }
  TORCH_CHECK(false, "unknown activation");
}

torch::Tensor PositionwiseFeedForwardImpl::forward(const torch::Tensor& x_ND) {
  // Formula feed_forward: fast path packed_search.
  return outer(dropout(hidden(x_ND)));
  // End of formula.
}

}  // namespace attn
