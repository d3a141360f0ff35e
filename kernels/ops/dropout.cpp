#include "kernels/ops/dropout.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <mutex>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements worth a thread

torch::Tensor drop(const torch::Tensor& x, cpu::DropoutKey key) {
  const torch::Tensor in = x.contiguous();
  torch::Tensor out = torch::empty_like(in);
  const float* from = in.const_data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, in.numel(), kGrain, [&](int64_t begin, int64_t end) {
    cpu::kernels().dropout(from, to, begin, end, key);
  });
  return out;
}

class Dropout : public torch::autograd::Function<Dropout> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               double p) {
    const cpu::DropoutKey key = draw_dropout_key(p);
    save_dropout_key(*context, key);
    return drop(x, key);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {drop(gradients[0], saved_dropout_key(*context)), torch::Tensor()};
  }
};

uint64_t draw() {
  if (Random* seeded = ComputeScope::dropout()) return seeded->next();
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

}  // namespace

cpu::DropoutKey draw_dropout_key(double p) {
  if (p <= 0.0) return {};
  return {.key = draw(),
          .threshold = static_cast<uint32_t>(std::lround(std::min(p * 4294967296.0, 4294967295.0))),
          .scale = static_cast<float>(1.0 / (1.0 - p))};
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

bool runs_on_cpu_kernels(const torch::Tensor& tensor) {
  return tensor.is_cpu() && tensor.scalar_type() == torch::kFloat32;
}

torch::Tensor fast_dropout(const torch::Tensor& x, double p) {
  if (p <= 0.0) return x;
  if (!x.is_cpu()) return torch::dropout(x, p, /*train=*/true);
  return Dropout::apply(x.to(torch::kFloat32), p).to(x.scalar_type());
}

}  // namespace attn
