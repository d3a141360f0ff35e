// The path of a CPU for the time of a test.
#pragma once

#include "kernels/compute_scope.h"

namespace attn::testing {

/// A CPU computes by the GPU's path, or as usual.
class DevicePath {
 public:
  explicit DevicePath(bool gpu) : before_(on_cpu_path(torch::kCPU)) { use_cpu_path(!gpu); }
  ~DevicePath() { use_cpu_path(before_); }
  DevicePath(const DevicePath&) = delete;
  DevicePath& operator=(const DevicePath&) = delete;

 private:
  bool before_;
};

}  // namespace attn::testing
