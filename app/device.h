// Where tensors live: a setting of the machine, not of the experiment, hence a flag and no knob.
#pragma once

#include <string>

#include "kernels/libtorch.h"

namespace attn {

/// "auto" (a GPU when there is one), "cpu" or "cuda". Throws ConfigError for another word or an
/// absent GPU.
void choose_device(const std::string& name);

/// The device chosen; the CPU before choose_device.
torch::Device device();

}  // namespace attn
