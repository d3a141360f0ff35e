#include "app/machine/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <thread>

#include "app/machine/version.h"
#include "base/error.h"
#include "base/stop_signal.h"
#include "kernels/compute_scope.h"
#include "kernels/cpu/instructions.h"
#include "kernels/ops/linear.h"

namespace attn {
namespace {

constexpr int kProducts = 6;
constexpr double kLongEnough = 0.5;  // seconds

// Seconds of the fastest call.
template <class F>
double shortest(F&& work, torch::Device device) {
  throw_if_stopped();
  work();
  synchronize(device);
  double best = std::numeric_limits<double>::infinity(), spent = 0.0;
  for (int i = 0; i < kProducts && spent < kLongEnough; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    synchronize(device);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    spent += seconds.count();
    best = std::min(best, seconds.count());
  }
  return best;
}

// FLOP/s of products of this width; `seconds`: of the fastest one.
double rate_of(int64_t width, Precision precision, torch::Device device, double& seconds) {
  const auto options = torch::TensorOptions().device(device).dtype(
      precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat);
  // No random numbers: the measurement must not change the generator state of a run.
  const torch::Tensor a = torch::full({width, width}, 0.5, options), b = torch::ones_like(a);
  torch::Tensor product = torch::empty_like(a);
  seconds = shortest([&] { torch::mm_out(product, a, b); }, device);
  if (device.is_cpu() && has_packed_products(precision)) {
    PackedWeights packed(precision, /*gradients=*/false);
    const ComputeScope scope({.precision = precision, .packed_weights = &packed});
    const torch::Tensor x = a.to(torch::kFloat32), weight = b.to(torch::kFloat32);
    linear(x, {weight, {}});  // packs the weight
    seconds = std::min(seconds, shortest([&] { linear(x, {weight, {}}); }, device));
  }
  return 2.0 * std::pow(static_cast<double>(width), 3) / seconds;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return buffer;
}

}  // namespace

void synchronize(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize();
}

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

double matrix_product_peak(Precision precision, torch::Device device) {
  const torch::NoGradGuard no_grad;
  constexpr int64_t kWidth = 2048, kGpuWidth = 4096;  // a GPU's hides launch overhead
  // From narrow products on: where they are slow, bf16 without its instructions for example, wide
  // ones would take minutes and have the same rate.
  double best = 0.0, seconds = 0.0;
  for (int64_t width = 256; width <= (device.is_cuda() ? kGpuWidth : kWidth); width *= 2) {
    best = std::max(best, rate_of(width, precision, device, seconds));
    if (8 * seconds > kLongEnough) break;
  }
  return best;
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
