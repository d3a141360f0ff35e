// What a command is run with and leaves behind, made in main.cpp and handed down to what needs it:
// there are no globals but the signals that the process gets (app/machine/signals.h).
#pragma once

#include <optional>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

struct Context {
  std::string command_line;            ///< as it was typed
  torch::Device device = torch::kCPU;  ///< where tensors live (--device)
  std::optional<int> threads;          ///< as --threads says; nothing: LibTorch's own number
  int exit_code = 0;                   ///< what the program ends with when no exception says it
};

}  // namespace attn
