// Fast path gpu_dropout: dropout b0fdaf95
#include "kernels/ops/gpu.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdint>

#include "kernels/cuda/gpu_kernels.h"
#include "kernels/ops/dropout_key.h"

namespace attn::gpu {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const cuda::Launcher* launcher_of(const torch::Tensor& x) {
  if (x.scalar_type() != torch::kFloat32 && x.scalar_type() != torch::kBFloat16) return nullptr;
  if (x.is_cuda()) return gpu_kernels(x.get_device());
  return x.is_cpu() && !on_cpu_path(x) ? cpu_launcher() : nullptr;
}

class GpuDropout : public torch::autograd::Function<GpuDropout> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, double p) {
    const Dropout drawn = draw_dropout(p);
    save_dropout(*context, drawn);
    return dropped(x, drawn, x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::Tensor& d = gradients[0];
    return {dropped(d, saved_dropout(*context), d.scalar_type()), torch::Tensor()};
  }
};

}  // namespace

bool has_kernels(const torch::Tensor& x) {
  return launcher_of(x) != nullptr;
}

std::optional<cuda::Queue> queue_for(FastPath path, const torch::Tensor& x) {
  if (!has_kernels(x) || !gpu_kernels_include(path) || !ComputeScope::takes(path)) return {};
  return queue_of(x);
}

cuda::Queue queue_of(const torch::Tensor& x) {
  void* stream = nullptr;
  if (x.is_cuda()) {
    stream = c10::impl::VirtualGuardImpl(x.device().type()).getStream(x.device()).native_handle();
  }
  return {launcher_of(x), stream};
}

torch::Tensor dense(const torch::Tensor& x) {
  const bool bf16 = x.scalar_type() == torch::kBFloat16;
  const torch::Tensor out = (bf16 ? x : x.to(torch::kFloat32)).contiguous();
  constexpr uintptr_t kAlignment = 16;
  return reinterpret_cast<uintptr_t>(out.const_data_ptr()) % kAlignment == 0 ? out : out.clone();
}

cuda::Numbers numbers(const torch::Tensor& x) {
  return {x.data_ptr(), x.scalar_type() == torch::kBFloat16 ? 1 : 0};
}

float* floats(const torch::Tensor& x) {
  return x.data_ptr<float>();
}

Dropout draw_dropout(double p) {
  if (p <= 0.0) return {};
  const cpu::DropoutKey rate = dropout_rate(p);
  const torch::Tensor seed = ComputeScope::device_seed();
  return {.key = {.seed = seed.defined()
                              ? reinterpret_cast<const uint64_t*>(seed.const_data_ptr<int64_t>())
                              : nullptr,
                  .draw = draw_unmixed(),
                  .threshold = rate.threshold,
                  .scale = rate.scale},
          .seed = seed};
}

void save_dropout(AutogradContext& context, const Dropout& dropout) {
  save_dropout_key(context, {dropout.key.draw, dropout.key.threshold, dropout.key.scale});
  if (dropout.seed.defined()) context.saved_data["seed"] = dropout.seed;
}

Dropout saved_dropout(AutogradContext& context) {
  const cpu::DropoutKey key = saved_dropout_key(context);
  Dropout out{
      .key = {.seed = nullptr, .draw = key.key, .threshold = key.threshold, .scale = key.scale},
      .seed = {}};
  if (const auto found = context.saved_data.find("seed"); found != context.saved_data.end()) {
    out.seed = found->second.toTensor();
    out.key.seed = reinterpret_cast<const uint64_t*>(out.seed.const_data_ptr<int64_t>());
  }
  return out;
}

torch::Tensor dropped(const torch::Tensor& x, const Dropout& dropout, torch::ScalarType type,
                      const torch::Tensor& added) {
  const torch::Tensor in = dense(x), more = added.defined() ? dense(added) : added;
  const torch::Tensor out = torch::empty(in.sizes(), in.options().dtype(type));
  cuda::drop_elements(queue_of(in), {.in = numbers(in),
                                     .added = more.defined() ? numbers(more) : cuda::Numbers{},
                                     .out = numbers(out),
                                     .count = in.numel(),
                                     .dropout = dropout.key});
  return out;
}

torch::Tensor dropout(const torch::Tensor& x, double p) {
  return GpuDropout::apply(x, p);
}

}  // namespace attn::gpu
