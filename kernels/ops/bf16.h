// A model in bf16 on a CPU that multiplies tiles of it (kernels/cpu/tiles.h): products take bf16
// operands and sum in float32; everything else, weights and their gradients too, stays float32.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// Whether this processor has such products; elsewhere training has LibTorch's autocast.
bool has_bf16_tiles();

/// A weight [outputs, inputs] as an operand: of x Wᵀ, and of dy W.
struct Bf16Weight {
  torch::Tensor forward, backward;  ///< tiles; `backward` may be undefined
};

/// The bf16 operands of a model's weights, made when a weight is first met. Threads may share one.
class Bf16Weights {
 public:
  /// Without `gradients` there is no backward pass with these, and half the memory.
  explicit Bf16Weights(bool gradients = true) : gradients_(gradients) {}

  /// By where the weight's data lie, so that replicas that share them share the operand. float32,
  /// on the CPU.
  std::shared_ptr<const Bf16Weight> of(const torch::Tensor& weight);
  /// The weights have changed: makes all operands again, on all threads. No other thread may use
  /// them meanwhile; a backward pass from before would take the new ones, unlike LibTorch's, which
  /// would complain.
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

/// x_NI Wᵀ + b for x of float32 or bf16, [N, outputs] in float32: torch::linear, in a ComputeScope
/// of bf16 tiles their product. There backward() adds to the gradients of W and b itself, so that
/// torch::autograd::grad does not get them.
torch::Tensor linear(const torch::Tensor& x_NI, const LinearWeights& layer);
/// max(0, linear(·)); in a ComputeScope of bf16 tiles as bf16.
torch::Tensor linear_relu(const torch::Tensor& x_NI, const LinearWeights& layer);
/// Up to three linear layers of the same rows, which are converted to tiles once.
std::vector<torch::Tensor> linear_all(const torch::Tensor& x_NI,
                                      std::span<const LinearWeights> layers);

}  // namespace attn
