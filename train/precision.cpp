#include "train/precision.h"

#include <ATen/autocast_mode.h>

namespace attn {

PrecisionScope::PrecisionScope(Precision precision, torch::Device device)
    : active_(precision == Precision::bf16), device_(device) {
  if (!active_) return;
  at::autocast::set_autocast_enabled(device_.type(), true);
  at::autocast::set_autocast_dtype(device_.type(), at::kBFloat16);
}

PrecisionScope::~PrecisionScope() {
  if (!active_) return;
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_.type(), false);
}

}  // namespace attn
