#include "kernels/ops/dropout_key.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

uint64_t draw_from_libtorch() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

}  // namespace

cpu::DropoutKey dropout_rate(double p) {
  return {.key = 0,
          .threshold = static_cast<uint32_t>(std::lround(std::min(p * 4294967296.0, 4294967295.0))),
          .scale = static_cast<float>(1.0 / (1.0 - p))};
}

cpu::DropoutKey draw_dropout_key(double p) {
  if (p <= 0.0) return {};
  cpu::DropoutKey key = dropout_rate(p);
  key.key = mix64(draw_unmixed());
  return key;
}

uint64_t draw_unmixed() {
  Random* seeded = ComputeScope::dropout();
  return seeded != nullptr ? seeded->advance() : draw_from_libtorch();
}

void save_dropout_key(torch::autograd::AutogradContext& context, const cpu::DropoutKey& key) {
  context.saved_data["key"] = static_cast<int64_t>(key.key);
  context.saved_data["threshold"] = static_cast<int64_t>(key.threshold);
  context.saved_data["scale"] = static_cast<double>(key.scale);
}

cpu::DropoutKey saved_dropout_key(torch::autograd::AutogradContext& context) {
  return {.key = static_cast<uint64_t>(context.saved_data["key"].toInt()),
          .threshold = static_cast<uint32_t>(context.saved_data["threshold"].toInt()),
          .scale = static_cast<float>(context.saved_data["scale"].toDouble())};
}

}  // namespace attn
