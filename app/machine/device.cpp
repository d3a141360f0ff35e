#include "app/machine/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <sys/resource.h>

#include "base/error.h"

namespace attn {

torch::Device find_device(const std::string& name) {
  const bool gpu = torch::cuda::is_available();
  if (name == "cuda" && !gpu) {
    throw ConfigError("--device cuda: no GPU found (CPU-only LibTorch, or no driver)");
  }
  if (name != "auto" && name != "cpu" && name != "cuda") {
    throw ConfigError("--device " + name + ": must be auto, cpu or cuda");
  }
  return gpu && name != "cpu" ? torch::kCUDA : torch::kCPU;
}

void wait_for(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize();
}

int64_t peak_memory(torch::Device device) {
  if (device.is_cuda()) {
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    const auto allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
    return allocator->getDeviceStats(0).reserved_bytes[all].peak;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return int64_t{usage.ru_maxrss} * 1024;
#endif
}

}  // namespace attn
