// A GPU for tests without one.
#pragma once

#include "kernels/cuda/gpu_kernels.h"
#include "tests/support/emulated_kernels.h"
#include "tests/support/scopes.h"

namespace attn::testing {

/// While it exists, a CPU computes by the GPU's path and the emulated kernels.
class EmulatedGpu {
 public:
  EmulatedGpu() : path_(/*gpu=*/true) { use_cpu_launcher(&launcher_); }
  ~EmulatedGpu() { use_cpu_launcher(nullptr); }
  EmulatedGpu(const EmulatedGpu&) = delete;
  EmulatedGpu& operator=(const EmulatedGpu&) = delete;
  uint64_t launches() const { return launcher_.launches(); }

 private:
  DevicePath path_;
  EmulatedLauncher launcher_;
};

}  // namespace attn::testing
