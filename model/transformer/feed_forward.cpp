#include "model/transformer/feed_forward.h"

namespace attn {
namespace {

torch::Tensor activated(Linear& inner, const torch::Tensor& x_ND, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return linear_relu(x_ND, inner->weights());
    case Activation::gelu:
      return torch::gelu(inner(x_ND));
    case Activation::silu:
      return torch::silu(inner(x_ND));
  }
  TORCH_CHECK(false, "unknown activation");
}

}  // namespace

PositionwiseFeedForwardImpl::PositionwiseFeedForwardImpl(const TransformerConfig& config)
    : activation_(config.activation) {
  inner = register_module("inner", Linear(config.d_model, config.d_ff));
  outer = register_module("outer", Linear(config.d_ff, config.d_model));
  dropout = register_module("dropout", Dropout(config.activation_dropout));
}

torch::Tensor PositionwiseFeedForwardImpl::forward(const torch::Tensor& x_ND) {
  return outer(dropout(activated(inner, x_ND, activation_)));
}

}  // namespace attn
