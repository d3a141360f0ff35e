// Global options of a command and its exit code, passed from main.cpp. Global state is the pending
// stop signal (app/machine/signals.h), a counter for progress lines (eval/search/search_count.h)
// and the group of one process (train/parallel/communicator.h).
#pragma once

#include <optional>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

struct Context {
  std::string command_line;            ///< as it was typed
  torch::Device device = torch::kCPU;  ///< where tensors live (--device)
  std::optional<int> threads;          ///< set by --threads; std::nullopt: LibTorch's default
  int exit_code = 0;  ///< exit code of the program unless an exception determines it
};

}  // namespace attn
