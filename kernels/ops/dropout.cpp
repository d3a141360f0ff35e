// Fast path dropout: dropout b0fdaf95
#include "kernels/ops/dropout.h"

#include <ATen/Parallel.h>

#include "base/random.h"
#include "kernels/compute_scope.h"
#include "kernels/ops/attention_options.h"
#include "kernels/ops/gpu.h"

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

}  // namespace

bool runs_on_cpu_kernels(const torch::Tensor& tensor) {
  return on_cpu_path(tensor) && tensor.scalar_type() == torch::kFloat32;
}

torch::Tensor fast_dropout(const torch::Tensor& x, double p) {
  if (p <= 0.0) return x;
  if (gpu::queue_for(FastPath::gpu_dropout, x)) return gpu::dropout(x, p);
  if (!on_cpu_path(x)) return torch::dropout(x, p, /*train=*/true);
  return Dropout::apply(x.to(torch::kFloat32), p).to(x.scalar_type());
}

torch::Tensor dropout_factors(const torch::Tensor& x, double p) {
  const torch::Tensor ones = torch::ones(x.sizes(), x.options().requires_grad(false));
  // Also where everything is computed as it is read, so that both have the same masks.
  if (gpu::has_kernels(x)) return gpu::dropped(ones, gpu::draw_dropout(p), x.scalar_type());
  if (!on_cpu_path(x)) return torch::dropout(ones, p, /*train=*/true);
  return drop(ones.to(torch::kFloat32), draw_dropout_key(p)).to(x.scalar_type());
}

uint64_t first_weight(int64_t sentence, int64_t heads, int64_t head) {
  return mix64(static_cast<uint64_t>(sentence * heads + head) + 1);
}

torch::Tensor attention_dropout_factors(std::span<const int64_t> query_offsets,
                                        std::span<const int64_t> key_offsets, int64_t heads,
                                        double p, torch::Device device) {
  const auto length = [](std::span<const int64_t> offsets, int64_t b) {
    return offsets[b + 1] - offsets[b];
  };
  const auto sentences = static_cast<int64_t>(query_offsets.size()) - 1;
  const int64_t queries = longest_of(query_offsets), keys = longest_of(key_offsets);
  const torch::Tensor out = torch::ones({sentences, heads, queries, keys}, device);
  if (!on_cpu_path(device)) return torch::dropout(out, p, /*train=*/true);
  const cpu::DropoutKey key = draw_dropout_key(p);
  at::parallel_for(0, sentences * heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / heads, own_keys = length(key_offsets, b);
      const uint64_t first = first_weight(b, heads, i % heads);
      float* row = out.data_ptr<float>() + i * queries * keys;
      for (int64_t q = 0; q < length(query_offsets, b); ++q, row += keys) {
        cpu::kernels().dropout_row(row, row, own_keys, key,
                                   first + static_cast<uint64_t>(q * own_keys));
      }
    }
  });
  return out;
}

}  // namespace attn
