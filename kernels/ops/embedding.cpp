#include "kernels/ops/embedding.h"

#include <span>

#include "kernels/ops/dropout.h"
#include "kernels/ops/gradient_target.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Weight : torch::CustomClassHolder {
  torch::Tensor weight;
};

class ScaledEmbedding : public torch::autograd::Function<ScaledEmbedding> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const torch::Tensor& tokens, double scale) {
    // Not a saved tensor: backward needs the parameter itself, for its gradient.
    auto holder = c10::make_intrusive<Weight>();
    holder->weight = weight;
    context->saved_data["weight"] = c10::IValue::make_capsule(std::move(holder));
    context->saved_data["scale"] = scale;
    context->save_for_backward({tokens});
    return torch::embedding(weight, tokens).mul_(scale);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::Tensor tokens = context->get_saved_variables()[0].contiguous();
    const torch::Tensor dy = gradients[0].contiguous();
    const auto holder = context->saved_data["weight"].toCapsule();
    const GradientTarget target(static_cast<const Weight&>(*holder).weight);
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const int64_t width = dy.size(1);
    const float* from = dy.const_data_ptr<float>();
    float* sums = target.into.data_ptr<float>();
    for (const int64_t token : std::span(tokens.const_data_ptr<int64_t>(), tokens.numel())) {
      float* row = sums + token * width;
      for (int64_t c = 0; c < width; ++c) row[c] += scale * from[c];
      from += width;
    }
    return {target.to_return, torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale) {
  if (!runs_on_cpu_kernels(weight_VD)) return torch::embedding(weight_VD, tokens_N) * scale;
  return ScaledEmbedding::apply(weight_VD, tokens_N, scale);
}

}  // namespace attn
