// torch's number of threads for the length of a scope.
#pragma once

#include "kernels/libtorch.h"

namespace attn::testing {

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
