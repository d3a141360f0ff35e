// Arithmetic without subnormal numbers, with which a CPU is slow.
#pragma once

#include <ATen/Context.h>

#include <cfenv>

namespace attn {

/// RAII guard: this thread flushes subnormals to 0. Threads that it starts inherit the mode.
class FlushSubnormals {
 public:
  FlushSubnormals() {
    std::fegetenv(&outer_);
    at::globalContext().setFlushDenormal(true);
  }
  ~FlushSubnormals() { std::fesetenv(&outer_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  std::fenv_t outer_{};
};

}  // namespace attn
