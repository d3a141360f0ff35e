#include "app/machine/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <sys/resource.h>

#include <ctime>
#include <thread>

#include "app/machine/version.h"
#include "base/error.h"
#include "kernels/cpu/instructions.h"

namespace attn {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return buffer;
}

}  // namespace

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

int64_t peak_memory(torch::Device device) {
  if (device.is_cuda()) {
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    const auto allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
    return allocator->getDeviceStats(0).reserved_bytes[all].peak;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

Json provenance(const Context& context) {
  Json run;
  run["command"] = context.command_line;
  run["started"] = now();
  run["version"] = version().attn;
  run["commit"] = version().commit;
  run["libtorch"] = version().libtorch;
  run["processor"] = first_value("/proc/cpuinfo", "model name");
  run["instructions"] = cpu::name_of(cpu::chosen_isa().isa);
  run["cores"] = std::thread::hardware_concurrency();
  run["threads"] = torch::get_num_threads();
  run["memory"] = first_value("/proc/meminfo", "MemTotal");
  run["device"] = context.device.str();
  if (context.device.is_cuda()) run["gpu"] = gpu_models("/proc/driver/nvidia/gpus");
  return run;
}

}  // namespace attn
