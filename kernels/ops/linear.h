// Linear layers for training on a CPU. In a ComputeScope with packed weights they run on this
// project's products: bf16 on tiles (kernels/cpu/tiles.h; bf16 operands, float32 sums), fp32 on
// panels (kernels/cpu/table.h). Weights, gradients and everything else stay float32.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"
#include "kernels/precision.h"

namespace attn {

/// Whether this processor has bf16 tiles; otherwise bf16 training uses LibTorch's autocast.
bool has_bf16_tiles();

/// Cache of a model's packed weights, filled on first use. Thread-safe.
class PackedWeights {
 public:
  /// Without `gradients` it supports no backward pass and takes half the memory. Requires
  /// has_packed_products for use, not for construction.
  explicit PackedWeights(Precision precision, bool gradients = true);

  Precision precision() const { return precision_; }
  /// Keyed by data pointer, so that replicas share the operands. float32, on the CPU.
  std::shared_ptr<const PackedWeight> of(const torch::Tensor& weight);
  /// Repacks all weights after an update, on all threads. Not thread-safe; a pending backward pass
  /// would silently use the new weights.
  void refresh();

 private:
  struct Entry {
    torch::Tensor weight;
    std::shared_ptr<PackedWeight> operand;
  };
  Precision precision_;
  bool gradients_;
  std::mutex mutex_;
  std::map<const void*, Entry> entries_;
};

/// x_NI Wᵀ + b, [N, outputs] in float32: torch::linear, or the product of packed weights in a
/// ComputeScope that has them (then x may be bf16 if its precision is). The latter accumulates into
/// W.grad and b.grad in backward(), so torch::autograd::grad does not return them.
torch::Tensor linear(const torch::Tensor& x_NI, const LinearWeights& layer);
/// max(0, linear(·)) with packed weights, which it requires; bf16 in a ComputeScope of bf16 tiles.
torch::Tensor linear_relu(const torch::Tensor& x_NI, const LinearWeights& layer);
/// silu(linear(x, gate)) ⊙ linear(x, layer), SwiGLU's hidden layer, likewise; weights of equal
/// shape.
torch::Tensor linear_silu_gate(const torch::Tensor& x_NI, const LinearWeights& gate,
                               const LinearWeights& layer);
/// Up to three linear layers of the same rows, which are packed once if they need to be. Training
/// on a GPU uses joint_linear.
std::vector<torch::Tensor> linear_all(const torch::Tensor& x_NI,
                                      std::span<const LinearWeights> layers);
/// The same by one product with the concatenated weights, which are parameters: fewer and larger
/// kernels, and one cast of the rows and of their gradient under autocast. The results are views of
/// one tensor, in the type of autocast if it is enabled. backward() adds the gradients of weights
/// and biases in float32 to their .grad, without rounding them to that type first.
std::vector<torch::Tensor> joint_linear(const torch::Tensor& x_NI,
                                        std::span<const LinearWeights> layers);

}  // namespace attn
