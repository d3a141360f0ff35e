// bf16 products on CPUs with bf16 instructions (AMX or AVX-512 BF16, kernels/cpu/tiles.h): bf16
// operands, float32 accumulation. Weights, gradients and everything else stay float32.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// Whether this processor supports them; otherwise training uses LibTorch's autocast.
bool has_bf16_tiles();

/// A weight [outputs, inputs] packed as the operand of x Wᵀ and of dy W.
struct Bf16Weight {
  torch::Tensor forward, backward;  ///< tiles; `backward` may be undefined
};

/// Cache of a model's weights as bf16 tiles, filled on first use. Thread-safe.
class Bf16Weights {
 public:
  /// Without `gradients` it supports no backward pass and takes half the memory.
  explicit Bf16Weights(bool gradients = true) : gradients_(gradients) {}

  /// Keyed by data pointer, so that replicas share the tiles. float32, on the CPU.
  std::shared_ptr<const Bf16Weight> of(const torch::Tensor& weight);
  /// Repacks all weights after an update, on all threads. Not thread-safe; a pending backward pass
  /// would silently use the new weights.
  void refresh();

 private:
  struct Entry {
    torch::Tensor weight;
    std::shared_ptr<Bf16Weight> operand;
  };
  bool gradients_;
  std::mutex mutex_;
  std::map<const void*, Entry> entries_;
};

/// W [outputs, inputs] and b [outputs], or undefined for none.
struct LinearWeights {
  torch::Tensor weight, bias;
};

/// x_NI Wᵀ + b, [N, outputs] in float32, for x in float32 or bf16: torch::linear, or the product of
/// bf16 tiles in such a ComputeScope. The latter accumulates into W.grad and b.grad in backward(),
/// so torch::autograd::grad does not return them.
torch::Tensor linear(const torch::Tensor& x_NI, const LinearWeights& layer);
/// max(0, linear(·)); bf16 in a ComputeScope of bf16 tiles.
torch::Tensor linear_relu(const torch::Tensor& x_NI, const LinearWeights& layer);
/// Up to three linear layers of the same rows, which are converted to tiles once.
std::vector<torch::Tensor> linear_all(const torch::Tensor& x_NI,
                                      std::span<const LinearWeights> layers);

}  // namespace attn
