#include "app/device.h"

#include "base/error.h"

namespace attn {
namespace {

torch::Device& chosen() {
  static torch::Device device(torch::kCPU);
  return device;
}

}  // namespace

void choose_device(const std::string& name) {
  const bool gpu = torch::cuda::is_available();
  if (name == "cuda" && !gpu) {
    throw ConfigError("--device cuda: LibTorch sees no GPU here (a CPU build, or no driver)");
  }
  if (name != "auto" && name != "cpu" && name != "cuda") {
    throw ConfigError("--device " + name + ": must be auto, cpu or cuda");
  }
  chosen() = torch::Device(gpu && name != "cpu" ? torch::kCUDA : torch::kCPU);
}

torch::Device device() {
  return chosen();
}

}  // namespace attn
