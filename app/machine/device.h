// Global options of a command and its exit code, passed from main.cpp (global state is listed in
// docs/explanation/architecture.md). The device, a command-line flag, since it depends on the
// machine and not on the experiment; its memory; machine, program and command in run.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_config.h"
#include "kernels/libtorch.h"

namespace attn {

struct Context {
  std::string command_line;            ///< as it was typed
  std::string device_name = "auto";    ///< --device: auto, cpu or cuda
  torch::Device device = torch::kCPU;  ///< where tensors live, chosen by device_name
  std::optional<int> threads;          ///< set by --threads; std::nullopt: LibTorch's default
  int exit_code = 0;  ///< exit code of the program unless an exception determines it
};

/// The device for "auto" (a GPU if available), "cpu" or "cuda". Throws ConfigError for other names,
/// and for "cuda" without a GPU.
torch::Device find_device(const std::string& name);

/// Peak memory of this process in bytes: resident set size, or reserved on the first GPU.
int64_t peak_memory(torch::Device device);

/// JSON object with command, version, commit (plus "+changes" for uncommitted changes), LibTorch,
/// processor, instruction set of the kernels, threads, host memory, device, GPUs and date.
Json provenance(const Context& context);

}  // namespace attn
