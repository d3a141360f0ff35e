// Global options of a command and its exit code, passed from main.cpp. Global state is listed in
// docs/explanation/architecture.md.
#pragma once

#include <optional>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

struct Context {
  std::string command_line;            ///< as it was typed
  std::string device_name = "auto";    ///< --device: auto, cpu or cuda
  torch::Device device = torch::kCPU;  ///< where tensors live, chosen by device_name
  std::optional<int> threads;          ///< set by --threads; std::nullopt: LibTorch's default
  int exit_code = 0;  ///< exit code of the program unless an exception determines it
};

}  // namespace attn
