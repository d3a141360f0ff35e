// Fast path gpu_norm: norm ea7a23ec
// Fast path gpu_norm: query_key_norm 06cf7a72
// Fast path gpu_norm: dropout b0fdaf95
// Fast path gpu_norm: sublayer fc5c03fb
#include "kernels/ops/gpu_norm.h"

#include "kernels/ops/gpu.h"

namespace attn::gpu {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using MaybeTensor = std::optional<torch::Tensor>;

class GpuNorm : public torch::autograd::Function<GpuNorm> {
 public:
  // The norm, and with `beside` x_in itself.
  static variable_list forward(AutogradContext* context, const torch::Tensor& x_in,
                               const MaybeTensor& update_in, const torch::Tensor& weight_in,
                               const MaybeTensor& bias_in, double epsilon, double p, bool beside) {
    const torch::Tensor x = dense(x_in), weight = dense(weight_in);
    const torch::Tensor update = update_in ? dense(*update_in) : torch::Tensor();
    const torch::Tensor bias = bias_in ? dense(*bias_in) : torch::Tensor();
    const int64_t width = weight.numel();
    const auto in_floats = x.options().dtype(torch::kFloat32);
    const bool of_stream = update.defined() || beside;  // else of any rows
    const torch::Tensor output = torch::empty(x.sizes(), of_stream ? x.options() : in_floats);
    const torch::Tensor sum = update.defined() ? torch::empty(x.sizes(), in_floats) : x;
    const torch::Tensor mean = torch::empty({x.numel() / width}, in_floats),
                        rstd = torch::empty_like(mean);
    const Dropout dropout = draw_dropout(p);
    cuda::norm_forward(queue_of(x), {.x = numbers(x),
                                     .update = update.defined() ? numbers(update) : cuda::Numbers{},
                                     .output = numbers(output),
                                     .sum = update.defined() ? floats(sum) : nullptr,
                                     .mean = floats(mean),
                                     .rstd = floats(rstd),
                                     .weight = floats(weight),
                                     .bias = bias.defined() ? floats(bias) : nullptr,
                                     .rows = mean.numel(),
                                     .width = static_cast<int32_t>(width),
                                     .epsilon = static_cast<float>(epsilon),
                                     .dropout = dropout.key});
    context->save_for_backward({sum, mean, rstd, weight});
    context->saved_data["has_bias"] = bias.defined();
    context->saved_data["x_type"] = static_cast<int64_t>(x_in.scalar_type());
    if (update_in) {
      context->saved_data["update_type"] = static_cast<int64_t>(update_in->scalar_type());
    }
    save_dropout(*context, dropout);
    return beside ? variable_list{output, x_in} : variable_list{output};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor d_output = dense(gradients[0]), &sum = saved[0], &weight = saved[3];
    const torch::Tensor d_residual = gradients.size() > 1 ? dense(gradients[1]) : torch::Tensor();
    const Dropout dropout = saved_dropout(*context);
    const bool has_bias = context->saved_data["has_bias"].toBool();
    const auto type = [&](const char* name) {
      return static_cast<torch::ScalarType>(context->saved_data[name].toInt());
    };
    const torch::Tensor d_x = torch::empty(sum.sizes(), sum.options().dtype(type("x_type")));
    const bool has_update = context->saved_data.count("update_type") > 0;
    torch::Tensor d_update;  // is that of x if neither dropout nor the type differs
    if (has_update && (dropout.key.threshold != 0 || type("update_type") != type("x_type"))) {
      d_update = torch::empty(sum.sizes(), sum.options().dtype(type("update_type")));
    }
    const int64_t rows = saved[1].numel(), width = weight.numel();
    const torch::Tensor partial =
        torch::empty({has_bias ? 2 : 1, cuda::norm_partial_rows(rows), width}, weight.options());
    cuda::norm_backward(queue_of(sum),
                        {.d_output = numbers(d_output),
                         .sum = numbers(sum),
                         .d_residual = d_residual.defined() ? numbers(d_residual) : cuda::Numbers{},
                         .mean = floats(saved[1]),
                         .rstd = floats(saved[2]),
                         .weight = floats(weight),
                         .d_x = numbers(d_x),
                         .d_update = d_update.defined() ? numbers(d_update) : cuda::Numbers{},
                         .partial = floats(partial),
                         .rows = rows,
                         .width = static_cast<int32_t>(width),
                         .has_bias = has_bias ? 1 : 0,
                         .dropout = dropout.key});
    const torch::Tensor total = partial.sum(1);
    if (has_update && !d_update.defined()) d_update = d_x;
    return {d_x,
            d_update,
            total[0],
            has_bias ? total[1] : torch::Tensor(),
            torch::Tensor(),
            torch::Tensor(),
            torch::Tensor()};
  }
};

class GpuResidualSum : public torch::autograd::Function<GpuResidualSum> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& update, double p) {
    TORCH_CHECK(update.sizes() == x.sizes(), "residual_sum: x ", x.sizes(), ", update ",
                update.sizes());
    const Dropout drawn = draw_dropout(p);
    save_dropout(*context, drawn);
    context->saved_data["update_type"] = static_cast<int64_t>(update.scalar_type());
    return dropped(update, drawn, x.scalar_type(), x);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto type = static_cast<torch::ScalarType>(context->saved_data["update_type"].toInt());
    return {gradients[0], dropped(gradients[0], saved_dropout(*context), type), torch::Tensor()};
  }
};

MaybeTensor maybe(const torch::Tensor& tensor) {
  return tensor.defined() ? MaybeTensor(tensor) : std::nullopt;
}

}  // namespace

bool takes_norm(const torch::Tensor& x, int64_t width) {
  return cuda::norm_supports(width) && queue_for(FastPath::gpu_norm, x).has_value();
}

torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p) {
  return GpuNorm::apply(x, maybe(update), parameters.weight, maybe(parameters.bias),
                        parameters.epsilon, p, /*beside=*/false)[0];
}

std::pair<torch::Tensor, torch::Tensor> norm_beside(const torch::Tensor& x,
                                                    const NormParameters& parameters) {
  TORCH_CHECK(x.size(-1) == parameters.weight.numel(), "norm: x ", x.sizes(), ", weight ",
              parameters.weight.sizes());
  const variable_list both =
      GpuNorm::apply(x, MaybeTensor(), parameters.weight, maybe(parameters.bias),
                     parameters.epsilon, 0.0, /*beside=*/true);
  return {both[0], both[1]};
}

torch::Tensor residual_sum(const torch::Tensor& x, const torch::Tensor& update, double p) {
  return GpuResidualSum::apply(x, update, p);
}

}  // namespace attn::gpu
