// Fast path norm: norm ea7a23ec
// Fast path norm: query_key_norm 06cf7a72
// Fast path norm: dropout b0fdaf95
#include "kernels/ops/residual_norm.h"

#include <ATen/Parallel.h>

#include <optional>

#include "kernels/compute_scope.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/gpu_norm.h"

namespace attn {
namespace {

// Rows per partial sum of the weight and bias gradients. Fixed, so that results do not depend on
// the number of threads.
constexpr int64_t kBlock = 256;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ResidualNorm : public torch::autograd::Function<ResidualNorm> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_in,
                               const std::optional<torch::Tensor>& update_in,
                               const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& some_bias, double epsilon,
                               double p) {
    const torch::Tensor bias = some_bias.value_or(torch::Tensor());
    const NormParameters parameters{weight, bias, epsilon};
    const torch::Tensor x = x_in.contiguous();
    const torch::Tensor update = update_in ? update_in->contiguous() : torch::Tensor();
    const int64_t width = weight.numel();
    const int64_t count = x.numel() / width;
    const cpu::DropoutKey key = draw_dropout_key(p);
    const torch::Tensor out = torch::empty_like(x);
    const torch::Tensor sum = update.defined() ? torch::empty_like(x) : x;
    const torch::Tensor mean = torch::empty({count}, x.options()), rstd = torch::empty_like(mean);
    cpu::NormRows rows = norm_rows(parameters, key);
    rows.x = x.const_data_ptr<float>();
    rows.update = update.defined() ? update.const_data_ptr<float>() : nullptr;
    at::parallel_for(0, count, kBlock / 8, [&](int64_t begin, int64_t end) {
      cpu::NormRows part = rows;
      part.begin = begin;
      part.end = end;
      cpu::kernels().norm_forward(part, out.data_ptr<float>(),
                                  update.defined() ? sum.data_ptr<float>() : nullptr,
                                  mean.data_ptr<float>(), rstd.data_ptr<float>());
    });
    context->save_for_backward({sum, mean, rstd, weight, bias});
    save_dropout_key(*context, key);
    context->saved_data["has_update"] = update.defined();
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor dy = gradients[0].contiguous();
    const torch::Tensor &sum = saved[0], &weight = saved[3];
    const int64_t width = weight.numel(), count = sum.numel() / width;
    const cpu::DropoutKey key = saved_dropout_key(*context);
    const bool has_update = context->saved_data["has_update"].toBool();
    const torch::Tensor dx = torch::empty_like(sum);
    const torch::Tensor du = key.threshold != 0 ? torch::empty_like(sum) : dx;
    const int64_t blocks = (count + kBlock - 1) / kBlock;
    const torch::Tensor partial = torch::zeros({2, blocks, width}, sum.options());
    const cpu::NormRows rows = norm_rows({weight, saved[4], 0.0}, key);
    at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t block = first; block < last; ++block) {
        cpu::NormRows part = rows;
        part.begin = block * kBlock;
        part.end = std::min(count, part.begin + kBlock);
        float* sums = partial.data_ptr<float>();
        cpu::kernels().norm_backward(part, {.output = dy.const_data_ptr<float>(),
                                            .sum = sum.const_data_ptr<float>(),
                                            .mean = saved[1].const_data_ptr<float>(),
                                            .rstd = saved[2].const_data_ptr<float>(),
                                            .x = dx.data_ptr<float>(),
                                            .update = du.data_ptr<float>(),
                                            .weight = sums + block * width,
                                            .bias = sums + (blocks + block) * width});
      }
    });
    const torch::Tensor total = partial.sum(1);
    const torch::Tensor db = saved[4].defined() ? total[1] : torch::Tensor();
    return {dx, has_update ? du : torch::Tensor(), total[0], db, torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

cpu::NormRows norm_rows(const NormParameters& parameters, cpu::DropoutKey dropout) {
  return {.width = parameters.weight.numel(),
          .weight = parameters.weight.const_data_ptr<float>(),
          .bias = parameters.bias.defined() ? parameters.bias.const_data_ptr<float>() : nullptr,
          .epsilon = static_cast<float>(parameters.epsilon),
          .dropout = dropout};
}

bool takes_residual_norm(const torch::Tensor& x, int64_t width) {
  return ComputeScope::takes(FastPath::norm, x) || gpu::takes_norm(x, width);
}

torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p) {
  const int64_t width = parameters.weight.numel();
  TORCH_CHECK(x.dim() > 0 && x.size(-1) == width, "norm: x ", x.sizes(), ", weight [", width, "]");
  TORCH_CHECK(!update.defined() || update.sizes() == x.sizes(), "residual_norm: x ", x.sizes(),
              ", update ", update.sizes());
  if (!on_cpu_path(x)) return gpu::residual_norm(x, update, parameters, p);
  const auto floats = [](const torch::Tensor& rows) {
    return rows.defined() ? std::optional(rows.to(torch::kFloat32)) : std::nullopt;
  };
  const torch::Tensor& bias = parameters.bias;
  return ResidualNorm::apply(*floats(x), floats(update), parameters.weight,
                             bias.defined() ? std::optional(bias) : std::nullopt,
                             parameters.epsilon, p);
}

}  // namespace attn
