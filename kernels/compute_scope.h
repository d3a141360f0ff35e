// What decides, apart from arguments, how a thread computes: the one place that keeps it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

class Bf16Weights;

/// While it lives, operations of this thread compute as it says; training and search open one
/// around a model's forward pass, and nothing else in the project sets these. An inner scope
/// replaces the outer one whole, until it ends. Without a scope: float32, and dropout from torch's
/// default CPU generator.
class ComputeScope {
 public:
  struct Options {
    /// Of matrix products; sums, norms, softmax and weights stay float32. bf16 is tiles of our own
    /// on a CPU that has them, else LibTorch's autocast. A CPU without instructions for bf16 only
    /// emulates it (train/precision.h).
    Precision precision = Precision::fp32;
    torch::Device device = torch::kCPU;
    /// The weights' operands, for tiles; must outlive the scope. Ignored without tiles.
    Bf16Weights* bf16_weights = nullptr;
    /// Dropout's keys come from this seed alone: what a thread draws must not depend on what the
    /// others do meanwhile. Without it they come from torch's default CPU generator, which all
    /// threads share. Off the CPU dropout is LibTorch's, with its generator.
    std::optional<uint64_t> dropout_seed = {};
  };

  explicit ComputeScope(const Options& options);
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;

  /// Of this thread's innermost scope: the operands that products in bf16 tiles take; null where
  /// products are LibTorch's.
  static Bf16Weights* bf16_weights();
  /// Of this thread's innermost scope: what dropout draws from; null for torch's generator.
  static Random* dropout();
  /// The type that LibTorch's autocast gives to products on `device`, if it is on.
  static std::optional<torch::ScalarType> autocast_type(torch::Device device);

 private:
  void set_autocast(bool enabled, torch::ScalarType type) const;

  ComputeScope* outer_;
  torch::Device device_;
  Bf16Weights* bf16_weights_ = nullptr;
  std::optional<Random> random_;
  bool outer_autocast_;
  torch::ScalarType outer_autocast_type_;
};

}  // namespace attn
