// The device. It is a command-line flag, since it depends on the machine and not on the experiment.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

/// The device for "auto" (a GPU if available), "cpu" or "cuda". Throws ConfigError for other names,
/// and for "cuda" without a GPU.
torch::Device find_device(const std::string& name);

/// Synchronizes with a GPU; does nothing on a CPU.
void wait_for(torch::Device device);

/// Peak memory of this process in bytes: resident set size, or allocated on the GPU.
int64_t peak_memory(torch::Device device);

}  // namespace attn
