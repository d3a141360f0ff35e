// The device: a command-line flag, since it depends on the machine, not the experiment.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

/// "auto" (a GPU if available), "cpu" or "cuda". Throws ConfigError for other names or without a
/// GPU.
torch::Device find_device(const std::string& name);

/// Synchronizes with a GPU; does nothing on a CPU.
void wait_for(torch::Device device);

/// Peak memory of this process in bytes: resident, or allocated on the GPU.
int64_t peak_memory(torch::Device device);

}  // namespace attn
