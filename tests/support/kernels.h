// Kernels of a process for the time of a test.
#pragma once

#include "kernels/fast_path.h"

namespace attn::testing {

class KernelUse {
 public:
  explicit KernelUse(Kernels kernels) { use_kernels(kernels); }
  ~KernelUse() { use_kernels(Kernels::automatic); }
  KernelUse(const KernelUse&) = delete;
  KernelUse& operator=(const KernelUse&) = delete;
};

}  // namespace attn::testing
