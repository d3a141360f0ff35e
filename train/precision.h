// Mixed precision.
#pragma once

#include <optional>

#include "kernels/libtorch.h"
#include "kernels/ops/bf16.h"
#include "train/config.h"

namespace attn {

/// What `asked` comes to on `device`: a CPU without instructions for bf16 would only emulate it,
/// many times slower, and stays with fp32.
Precision effective_precision(Precision asked, torch::Device device);

/// Runs matrix products in `precision` while it lives; sums, norms, softmax and weights stay
/// float32. bf16 is tiles of our own where a CPU has them, else LibTorch's autocast. `precision` is
/// one that effective_precision gave.
class PrecisionScope {
 public:
  /// `weights` are bf16's on a CPU.
  PrecisionScope(Precision precision, torch::Device device, Bf16Weights& weights);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  std::optional<Bf16Scope> tiles_;
  bool autocast_;
  torch::Device device_;
};

}  // namespace attn
