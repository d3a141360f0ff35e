#include "app/machine/peak.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/machine/device.h"
#include "kernels/libtorch.h"

namespace attn {
namespace {

constexpr int kProducts = 6;
constexpr double kLongEnough = 0.5;  // seconds

}  // namespace

double matrix_product_peak(Precision precision, torch::Device device) {
  const torch::NoGradGuard no_grad;
  const auto options = torch::TensorOptions().device(device).dtype(
      precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat);
  // On a GPU large enough to hide launch overhead.
  const int64_t width = device.is_cuda() ? 4096 : 2048;
  // No random numbers: the measurement must not change the generator state of a run.
  const torch::Tensor a = torch::full({width, width}, 0.5, options), b = torch::ones_like(a);
  torch::Tensor product = torch::mm(a, b);
  wait_for(device);
  double best = 0.0, spent = 0.0;
  for (int i = 0; i < kProducts && spent < kLongEnough; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    torch::mm_out(product, a, b);
    wait_for(device);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    spent += seconds.count();
    best = std::max(best, 2.0 * std::pow(static_cast<double>(width), 3) / seconds.count());
  }
  return best;
}

}  // namespace attn
