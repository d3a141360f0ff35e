#include "train/precision.h"

#include <ATen/autocast_mode.h>

#include "kernels/cpu/tiles.h"

namespace attn {

Precision effective_precision(Precision asked, torch::Device device) {
  return device.is_cpu() && !cpu::has_bf16_instructions() ? Precision::fp32 : asked;
}

PrecisionScope::PrecisionScope(Precision precision, torch::Device device, Bf16Weights& weights)
    : autocast_(false), device_(device) {
  if (precision != Precision::bf16) return;
  if (device.is_cpu() && has_bf16_tiles()) {
    tiles_.emplace(weights);
    return;
  }
  autocast_ = true;
  at::autocast::set_autocast_enabled(device_.type(), true);
  at::autocast::set_autocast_dtype(device_.type(), at::kBFloat16);
}

PrecisionScope::~PrecisionScope() {
  if (!autocast_) return;
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_.type(), false);
}

}  // namespace attn
