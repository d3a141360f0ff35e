// Mixed precision.
#pragma once

#include "kernels/libtorch.h"
#include "train/config.h"

namespace attn {

/// Runs matrix products in `precision` while it lives; sums, norms, softmax and weights stay
/// float32.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, torch::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  bool active_;
  torch::Device device_;
};

}  // namespace attn
