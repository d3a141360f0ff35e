// Where tensors live: a setting of the machine, not of the experiment, hence a flag and no knob.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/libtorch.h"

namespace attn {

/// Sets the number of threads that the user asks for with --threads.
void choose_threads(int threads);

/// Whether choose_threads was called.
bool threads_chosen();

/// "auto" (a GPU when there is one), "cpu" or "cuda". Throws ConfigError for another word or an
/// absent GPU.
void choose_device(const std::string& name);

/// The device chosen; the CPU before choose_device.
torch::Device device();

/// Returns when a GPU has done all that was queued; at once on a CPU.
void wait_for_device();

/// Bytes that this process has had at most: resident ones, or on a GPU those taken from it.
int64_t peak_memory();

}  // namespace attn
