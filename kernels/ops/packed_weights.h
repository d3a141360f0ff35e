// The weights of a model in the form that products read.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"
#include "kernels/precision.h"

namespace attn {

/// Whether this processor has bf16 tiles; otherwise bf16 training is in fp32 on x86, and by
/// LibTorch's autocast on others.
bool has_bf16_tiles();

/// Cache of a model's weights as products read them, filled on first use: packed on a CPU, copies
/// in bf16 on a GPU. Thread-safe.
class PackedWeights {
 public:
  /// Without `gradients` it supports no backward pass and takes half the memory. Requires
  /// has_packed_products for use, not for construction.
  explicit PackedWeights(Precision precision, bool gradients = true);

  Precision precision() const { return precision_; }
  /// Keyed by data pointer, so that replicas share the operands. float32, on the CPU.
  std::shared_ptr<const PackedWeight> of(const torch::Tensor& weight);
  /// For bf16 on a GPU: parameters [O, ·] that are multiplied at once, one below the other, as one
  /// copy in bf16 at an address that stays, so that graphs may read it.
  torch::Tensor bf16_copy(at::TensorList parts);
  /// Repacks all weights after an update, on all threads; copies by one operation of the current
  /// stream. Not thread-safe; a pending backward pass would silently use the new weights, and with
  /// copies throw.
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
  std::map<std::vector<const void*>, torch::Tensor> copies_;
  std::vector<torch::Tensor> copied_from_, copied_to_;  // each parameter, and where it is copied to
};

}  // namespace attn
