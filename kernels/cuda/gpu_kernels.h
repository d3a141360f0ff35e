// Whether a GPU runs this project's kernels: the option runtime.gpu_kernels.
#pragma once

#include <string>

#include "base/enum_names.h"
#include "kernels/cuda/launches.h"
#include "kernels/fast_path.h"

namespace attn {

enum class GpuKernels {
  automatic,  ///< off until a GPU has shown them to be equal and faster
  on,         ///< all, for measurements
  off,        ///< LibTorch's operations
  // One of them, FastPath::gpu_linear and so on, to measure it alone: with dropout, so that all
  // masks are of one generator.
  linear,
  norm,
  loss,
  embedding,
  dropout
};

template <>
struct EnumNames<GpuKernels> {
  static constexpr auto values =
      std::to_array<EnumName<GpuKernels>>({{GpuKernels::automatic, "auto"},
                                           {GpuKernels::on, "on"},
                                           {GpuKernels::off, "off"},
                                           {GpuKernels::linear, "linear"},
                                           {GpuKernels::norm, "norm"},
                                           {GpuKernels::loss, "loss"},
                                           {GpuKernels::embedding, "embedding"},
                                           {GpuKernels::dropout, "dropout"}});
};

/// Sets it for this process; `automatic` leaves it to the environment variable ATTN_GPU_KERNELS,
/// if there is one. Throws ConfigError for another value of the variable.
void use_gpu_kernels(GpuKernels kernels);
/// Whether those that are on, if there are any, include this fast path.
bool gpu_kernels_include(FastPath path);

/// The kernels for a device, compiled by the first call; null if they are off, or if CUDA's driver
/// or NVRTC is missing or fails. Thread-safe.
const cuda::Launcher* gpu_kernels(int device);
/// Why gpu_kernels() is null although the kernels are on; empty: it is not.
std::string gpu_kernels_missing(int device);

/// For tests: runs the kernels of tensors on a CPU's GPU path (on_cpu_path); null: LibTorch's
/// operations, as at first.
void use_cpu_launcher(const cuda::Launcher* launcher);
const cuda::Launcher* cpu_launcher();

}  // namespace attn
