#include "kernels/cuda/gpu_kernels.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "kernels/cuda/cubins.h"
#include "kernels/cuda/driver.h"

namespace attn {
namespace {

GpuKernels gpu_kernels_by_environment() {
  const char* name = std::getenv("ATTN_GPU_KERNELS");
  if (name == nullptr || *name == '\0') return GpuKernels::automatic;
  const auto kernels = enum_named<GpuKernels>(name);
  require(kernels.has_value(), "ATTN_GPU_KERNELS", name,
          "expected one of the values of runtime.gpu_kernels");
  return *kernels;
}

std::atomic<GpuKernels>& chosen_gpu_kernels() {
  static std::atomic<GpuKernels> kernels = gpu_kernels_by_environment();
  return kernels;
}

bool gpu_kernels_are_on() {
  const GpuKernels kernels = chosen_gpu_kernels();
  return kernels != GpuKernels::automatic && kernels != GpuKernels::off;
}

std::atomic<const cuda::Launcher*> launcher_of_cpu = nullptr;

struct OfDevice {
  std::unique_ptr<cuda::Launcher> launcher;
  std::string missing;
};

OfDevice make_launcher(int device) {
  try {
    static const cuda::Driver driver;
    static const cuda::Nvrtc nvrtc = cuda::Nvrtc::find();
    return {std::make_unique<cuda::GpuLauncher>(driver, nvrtc, device, cuda::cubin_folder()), ""};
  } catch (const cuda::CudaError& error) {
    return {nullptr, error.what()};
  }
}

const OfDevice& of_device(int device) {
  static std::mutex mutex;
  static std::map<int, OfDevice> made;
  const std::lock_guard lock(mutex);
  const auto found = made.find(device);
  return found != made.end() ? found->second
                             : made.emplace(device, make_launcher(device)).first->second;
}

}  // namespace

void use_gpu_kernels(GpuKernels kernels) {
  chosen_gpu_kernels() = kernels == GpuKernels::automatic ? gpu_kernels_by_environment() : kernels;
}

bool gpu_kernels_include(FastPath path) {
  const GpuKernels chosen = chosen_gpu_kernels();
  return path == FastPath::gpu_dropout || chosen <= GpuKernels::off ||
         enum_name(path) == "gpu_" + std::string(enum_name(chosen));
}

const cuda::Launcher* gpu_kernels(int device) {
  return gpu_kernels_are_on() ? of_device(device).launcher.get() : nullptr;
}

std::string gpu_kernels_missing(int device) {
  return gpu_kernels_are_on() ? of_device(device).missing : "";
}

void use_cpu_launcher(const cuda::Launcher* launcher) {
  launcher_of_cpu = launcher;
}

const cuda::Launcher* cpu_launcher() {
  return launcher_of_cpu;
}

}  // namespace attn
