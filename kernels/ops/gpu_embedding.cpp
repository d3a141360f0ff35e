// Fast path gpu_embedding: embedding 4072532e
// Fast path gpu_embedding: embedded c0656ac2
// Fast path gpu_embedding: position aa5a5c93
// Fast path gpu_embedding: dropout b0fdaf95
#include "kernels/ops/gpu_embedding.h"

#include "kernels/ops/gpu.h"
#include "kernels/ops/gradient_target.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class GpuEmbedding : public torch::autograd::Function<GpuEmbedding> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const torch::Tensor& tokens_in, const torch::Tensor& table,
                               const torch::Tensor& positions_in, double scale, double p) {
    const torch::Tensor tokens = tokens_in.contiguous(), positions = positions_in.contiguous();
    const torch::Tensor from = gpu::dense(weight), added = gpu::dense(table);
    const gpu::Dropout dropout = gpu::draw_dropout(p);
    const auto type = ComputeScope::residual_type().value_or(torch::kFloat32);
    const torch::Tensor output =
        torch::empty({tokens.numel(), from.size(1)}, from.options().dtype(type));
    cuda::embedding_forward(gpu::queue_of(from), {.weight = gpu::floats(from),
                                                  .tokens = tokens.const_data_ptr<int64_t>(),
                                                  .table = gpu::floats(added),
                                                  .positions = positions.const_data_ptr<int64_t>(),
                                                  .output = gpu::numbers(output),
                                                  .rows = tokens.numel(),
                                                  .width = static_cast<int32_t>(from.size(1)),
                                                  .scale = static_cast<float>(scale),
                                                  .dropout = dropout.key});
    context->saved_data["embedding_scale"] = scale;
    context->save_for_backward({tokens, weight});
    gpu::save_dropout(*context, dropout);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor& tokens = saved[0];
    const torch::Tensor d_output = gpu::dense(gradients[0]);
    const GradientTarget target(saved[1]);  // the parameter itself, with its .grad
    const auto [sorted, rows_of] = tokens.sort(/*stable=*/std::optional<bool>(true), /*dim=*/0);
    const int64_t width = d_output.size(1);
    const torch::Tensor partial =
        torch::empty({cuda::embedding_partial_rows(tokens.numel()), width}, target.into.options());
    cuda::embedding_backward(
        gpu::queue_of(d_output),
        {.d_output = gpu::numbers(d_output),
         .tokens = sorted.const_data_ptr<int64_t>(),
         .rows_of = rows_of.const_data_ptr<int64_t>(),
         .d_weight = gpu::floats(target.into),
         .partial = gpu::floats(partial),
         .rows = tokens.numel(),
         .width = static_cast<int32_t>(width),
         .scale = static_cast<float>(context->saved_data["embedding_scale"].toDouble()),
         .dropout = gpu::saved_dropout(*context).key});
    return {target.to_return, {}, {}, {}, {}, {}};
  }
};

}  // namespace

bool takes_gpu_embedding(const torch::Tensor& weight_VD) {
  return weight_VD.scalar_type() == torch::kFloat32 &&
         cuda::embedding_supports(weight_VD.size(1)) &&
         gpu::queue_for(FastPath::gpu_embedding, weight_VD).has_value();
}

torch::Tensor gpu_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                            double scale, const torch::Tensor& table_PD,
                            const torch::Tensor& positions_N, double p) {
  return GpuEmbedding::apply(weight_VD, tokens_N, table_PD, positions_N, scale, p);
}

}  // namespace attn
