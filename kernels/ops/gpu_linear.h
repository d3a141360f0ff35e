// Linear layers for training on a GPU, by LibTorch's operations.
#pragma once

#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"
#include "kernels/ops/packed_weights.h"

namespace attn {

/// Linear layers of the same rows as one product with their weights, which are parameters, one
/// below the other: fewer and larger kernels, and one cast of the rows and of their gradient under
/// autocast. The results are views of one tensor, in the type of autocast if it is enabled.
/// backward() adds the gradients of weights and biases in float32 to their .grad, without rounding
/// them to that type first.
std::vector<torch::Tensor> joint_linear(const torch::Tensor& x_NI,
                                        std::span<const LinearWeights> layers);
/// max(0, ·) of one layer, likewise; with a bias both are part of the product's kernel.
torch::Tensor joint_relu(const torch::Tensor& x_NI, const LinearWeights& layer);

/// Where products of x on a GPU read their weights in bf16 instead of converting them in each
/// product (FastPath::gpu_linear); null: nowhere.
PackedWeights* weight_copies(const torch::Tensor& x);

}  // namespace attn
