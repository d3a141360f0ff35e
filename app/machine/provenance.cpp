#include "app/machine/provenance.h"

#include <ctime>
#include <thread>

#include "app/machine/device.h"
#include "app/machine/system_files.h"
#include "app/machine/version.h"
#include "kernels/cpu/instructions.h"
#include "kernels/libtorch.h"

namespace attn {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return buffer;
}

}  // namespace

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
