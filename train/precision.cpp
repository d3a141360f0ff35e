#include "train/precision.h"

#include "kernels/cpu/tiles.h"

namespace attn {

Precision effective_precision(Precision asked, torch::Device device) {
  return device.is_cpu() && !cpu::has_bf16_instructions() ? Precision::fp32 : asked;
}

}  // namespace attn
