// What a process computes by, for the time of a test.
#pragma once

#include "kernels/compute_scope.h"
#include "kernels/libtorch.h"
#include "tests/support/kernels.h"

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

/// torch's number of threads.
class Threads {
 public:
  explicit Threads(int count) : before_(torch::get_num_threads()) { torch::set_num_threads(count); }
  ~Threads() { torch::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace attn::testing
