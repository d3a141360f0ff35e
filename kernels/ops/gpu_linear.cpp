// Fast path gpu_linear: linear aab16616
// Fast path gpu_linear: projection 060f938c
// Fast path gpu_linear: relu d1bf1190
// Fast path linear: linear aab16616
#include "kernels/ops/gpu_linear.h"

#include <ATen/ops/_addmm_activation.h>

#include "kernels/compute_scope.h"
#include "kernels/ops/gpu.h"
#include "kernels/ops/gradient_target.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// With operands of `type`.
class JointProduct : public torch::autograd::Function<JointProduct> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               at::TensorList weights, at::TensorList biases,
                               torch::ScalarType type, bool relu) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    PackedWeights* copies = type == torch::kBFloat16 ? weight_copies(x) : nullptr;
    const auto joint = [&](at::TensorList parts) {
      if (copies != nullptr) return copies->bf16_copy(parts);
      return (parts.size() == 1 ? parts[0] : torch::cat(parts)).to(type);
    };
    variable_list saved{x.to(type), joint(weights)};
    const torch::Tensor bias = biases.empty() ? torch::Tensor() : joint(biases);
    torch::Tensor y;
    if (relu && bias.defined()) {
      y = at::_addmm_activation(bias, saved[0], saved[1].t());
    } else {
      y = torch::linear(saved[0], saved[1], bias);
      if (relu) y.relu_();
    }
    if (relu) saved.push_back(y);
    saved.insert(saved.end(), weights.begin(), weights.end());
    saved.insert(saved.end(), biases.begin(), biases.end());
    context->save_for_backward(saved);
    context->saved_data["weights"] = static_cast<int64_t>(weights.size());
    context->saved_data["relu"] = relu;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const bool relu = context->saved_data["relu"].toBool();
    const torch::Tensor& x = saved[0];
    const torch::Tensor dy =
        relu ? torch::threshold_backward(gradients[0], saved[2], 0) : gradients[0];
    const auto parameters = saved.begin() + (relu ? 3 : 2);
    const auto weights = static_cast<size_t>(context->saved_data["weights"].toInt());
    const auto biases = static_cast<size_t>(saved.end() - parameters) - weights;
    variable_list out(3 + weights + biases);
    if (context->needs_input_grad(0)) out[0] = dy.mm(saved[1]);
    const torch::Tensor sums = biases > 0 ? dy.sum(0, false, torch::kFloat32) : torch::Tensor();
    int64_t begin = 0;
    for (size_t m = 0; m < weights; ++m) {
      const int64_t outputs = parameters[m].size(0);
      if (context->needs_input_grad(1 + m)) {
        GradientTarget target(parameters[m]);
        add_product(target.into, dy.narrow(1, begin, outputs).t(), x);
        out[1 + m] = target.to_return;
      }
      if (biases > 0 && context->needs_input_grad(1 + weights + m)) {
        const GradientTarget target(parameters[weights + m]);
        target.into.add_(sums.narrow(0, begin, outputs));
        out[1 + weights + m] = target.to_return;
      }
      begin += outputs;
    }
    return out;
  }
};

torch::Tensor joint_product(const torch::Tensor& x, std::span<const LinearWeights> layers,
                            bool relu) {
  std::vector<torch::Tensor> weights, biases;
  for (const LinearWeights& layer : layers) {
    weights.push_back(layer.weight);
    if (layer.bias.defined()) biases.push_back(layer.bias);
  }
  TORCH_CHECK(biases.empty() || biases.size() == layers.size(),
              "joint_linear: a bias for all layers or for none");
  const auto type = ComputeScope::autocast_type(x.device()).value_or(torch::kFloat32);
  return JointProduct::apply(x, at::TensorList(weights), at::TensorList(biases), type, relu);
}

}  // namespace

std::vector<torch::Tensor> joint_linear(const torch::Tensor& x_NI,
                                        std::span<const LinearWeights> layers) {
  std::vector<int64_t> outputs;
  for (const LinearWeights& layer : layers) outputs.push_back(layer.weight.size(0));
  return joint_product(x_NI, layers, /*relu=*/false).split_with_sizes(outputs, 1);
}

torch::Tensor joint_relu(const torch::Tensor& x_NI, const LinearWeights& layer) {
  return joint_product(x_NI, {&layer, 1}, /*relu=*/true);
}

PackedWeights* weight_copies(const torch::Tensor& x) {
  PackedWeights* copies = ComputeScope::copied_weights();
  return copies != nullptr && gpu::queue_for(FastPath::gpu_linear, x) ? copies : nullptr;
}

}  // namespace attn
