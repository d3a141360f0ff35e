#include "app/machine/peak.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "app/machine/device.h"
#include "kernels/compute_scope.h"
#include "kernels/libtorch.h"
#include "kernels/ops/linear.h"

namespace attn {
namespace {

constexpr int kProducts = 6;
constexpr double kLongEnough = 0.5;  // seconds

// Seconds of the fastest call.
template <class F>
double shortest(F&& work, torch::Device device) {
  work();
  wait_for(device);
  double best = std::numeric_limits<double>::infinity(), spent = 0.0;
  for (int i = 0; i < kProducts && spent < kLongEnough; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    wait_for(device);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    spent += seconds.count();
    best = std::min(best, seconds.count());
  }
  return best;
}

}  // namespace

double matrix_product_peak(Precision precision, torch::Device device) {
  const torch::NoGradGuard no_grad;
  const auto options = torch::TensorOptions().device(device).dtype(
      precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat);
  // On a GPU large enough to hide launch overhead.
  const int64_t width = device.is_cuda() ? 4096 : 2048;
  // No random numbers: the measurement must not change the generator state of a run.
  const torch::Tensor a = torch::full({width, width}, 0.5, options), b = torch::ones_like(a);
  const double flops = 2.0 * std::pow(static_cast<double>(width), 3);
  torch::Tensor product = torch::mm(a, b);
  double best = flops / shortest([&] { torch::mm_out(product, a, b); }, device);
  if (device.is_cpu() && has_packed_products(precision)) {
    PackedWeights packed(precision, /*gradients=*/false);
    const ComputeScope scope({.precision = precision, .packed_weights = &packed});
    const torch::Tensor x = a.to(torch::kFloat32), weight = b.to(torch::kFloat32);
    linear(x, {weight, {}});  // packs the weight
    best = std::max(best, flops / shortest([&] { linear(x, {weight, {}}); }, device));
  }
  return best;
}

}  // namespace attn
