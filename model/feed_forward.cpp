#include "model/feed_forward.h"

#include "kernels/dropout.h"

namespace attn {
namespace {

torch::Tensor activate(const torch::Tensor& x_NF, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return torch::relu(x_NF);
    case Activation::gelu:
      return torch::gelu(x_NF);
    case Activation::silu:
      return torch::silu(x_NF);
  }
  TORCH_CHECK(false, "no such activation");
}

}  // namespace

PositionwiseFeedForwardImpl::PositionwiseFeedForwardImpl(const ModelConfig& config)
    : activation_(config.activation), dropout_(config.activation_dropout) {
  inner = register_module("inner", torch::nn::Linear(config.d_model, config.d_ff));
  outer = register_module("outer", torch::nn::Linear(config.d_ff, config.d_model));
}

torch::Tensor PositionwiseFeedForwardImpl::forward(const torch::Tensor& x_ND) {
  const torch::Tensor hidden_NF = activate(inner(x_ND), activation_);
  return outer(fast_dropout(hidden_NF, is_training() ? dropout_ : 0.0));
}

}  // namespace attn
