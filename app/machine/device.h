// Where tensors live: a setting of the machine, not of the experiment, hence a command-line flag.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

/// "auto" (a GPU when there is one), "cpu" or "cuda". Throws ConfigError for another word or an
/// absent GPU.
torch::Device find_device(const std::string& name);

/// Returns when a GPU has done all that was queued; at once on a CPU.
void wait_for(torch::Device device);

/// Bytes that this process has had at most: resident ones, or on a GPU those taken from it.
int64_t peak_memory(torch::Device device);

}  // namespace attn
