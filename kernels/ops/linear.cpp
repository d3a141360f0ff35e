// Fast path linear: linear aab16616
// Fast path linear: projection 060f938c
#include "kernels/ops/linear.h"

#include <algorithm>
#include <optional>

#include "kernels/compute_scope.h"
#include "kernels/ops/gpu_linear.h"
#include "kernels/ops/gradient_target.h"
#include "kernels/ops/linear_products.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class PackedProduct : public torch::autograd::Function<PackedProduct> {
 public:
  using Parameter = std::optional<torch::Tensor>;
  // Weights and biases are arguments so that autograd tracks them.
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const Parameter&,
                               const Parameter&, const Parameter&, const Parameter&,
                               const Parameter&, const Parameter&,
                               c10::intrusive_ptr<LinearLayers> all) {
    const variable_list results = products_of(all->precision).multiply_all(x, *all);
    variable_list saved{x};
    context->save_for_backward(saved);
    context->saved_data["layers"] = c10::IValue::make_capsule(std::move(all));
    context->set_materialize_grads(false);  // unused results cost nothing
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list dy) {
    const variable_list saved = context->get_saved_variables();
    const auto holder = context->saved_data["layers"].toCapsule();
    const auto& all = static_cast<const LinearLayers&>(*holder);
    const LinearProducts& products = products_of(all.precision);
    const torch::Tensor& x = saved[0];
    variable_list out(2 + 2 * kMaxLayers);
    if (std::none_of(dy.begin(), dy.end(), [](const auto& d) { return d.defined(); })) return out;
    for (torch::Tensor& gradient : dy) {
      if (gradient.defined()) gradient = gradient.contiguous();
    }
    // Autograd numbers only defined arguments.
    size_t edge = 0;
    if (context->needs_input_grad(edge++)) out[0] = products.input_gradient(x, all, dy);
    std::vector<WeightGradient> weights;
    for (size_t m = 0; m < all.layers.size(); ++m) {
      const auto& layer = all.layers[m];
      const bool wants_weight = context->needs_input_grad(edge++);
      const bool wants_bias = layer.bias.defined() && context->needs_input_grad(edge++);
      if (!dy[m].defined()) continue;
      if (wants_weight) {
        const GradientTarget target(layer.weight);
        weights.push_back({dy[m], target.into.data_ptr<float>()});
        out[1 + 2 * m] = target.to_return;
      }
      if (wants_bias) {
        const GradientTarget target(layer.bias);
        products.add_rows(dy[m], target.into.data_ptr<float>());
        out[2 + 2 * m] = target.to_return;
      }
    }
    products.add_weight_gradients(x, weights);
    return out;
  }

  static constexpr size_t kMaxLayers = 3;
};

variable_list packed_linear(const torch::Tensor& x, std::span<const LinearWeights> layers,
                            PackedWeights& packed) {
  TORCH_CHECK(!layers.empty() && layers.size() <= PackedProduct::kMaxLayers, layers.size(),
              " linear layers");
  auto all = c10::make_intrusive<LinearLayers>();
  all->precision = packed.precision();
  for (const LinearWeights& layer : layers) {
    TORCH_CHECK(
        x.dim() == 2 && layer.weight.dim() == 2 && x.size(1) == layer.weight.size(1) &&
            (!layer.bias.defined() || layer.bias.sizes() == layer.weight.sizes().slice(0, 1)),
        "linear: rows ", x.sizes(), ", weight ", layer.weight.sizes());
    TORCH_CHECK(
        x.is_cpu() &&
            (x.scalar_type() == torch::kFloat32 ||
             (x.scalar_type() == torch::kBFloat16 && all->precision == Precision::bf16)) &&
            (!layer.bias.defined() ||
             (layer.bias.is_contiguous() && layer.bias.scalar_type() == torch::kFloat32)),
        "packed products require float32 rows, or bf16 in bf16, and a float32 bias on a CPU");
    all->layers.push_back({layer, packed.of(layer.weight)});
  }
  const auto weight = [&](size_t m) {
    return m < layers.size() ? PackedProduct::Parameter(layers[m].weight) : std::nullopt;
  };
  const auto bias = [&](size_t m) {
    return m < layers.size() && layers[m].bias.defined() ? PackedProduct::Parameter(layers[m].bias)
                                                         : std::nullopt;
  };
  return PackedProduct::apply(x.contiguous(), weight(0), bias(0), weight(1), bias(1), weight(2),
                              bias(2), all);
}

}  // namespace

std::vector<torch::Tensor> linear_all(const torch::Tensor& x_NI,
                                      std::span<const LinearWeights> layers) {
  if (PackedWeights* packed = ComputeScope::packed_weights()) {
    return packed_linear(x_NI, layers, *packed);
  }
  const bool parameters = std::ranges::all_of(
      layers, [](const LinearWeights& layer) { return layer.weight.is_leaf(); });
  if (ComputeScope::takes(FastPath::linear) && !on_cpu_path(x_NI) &&
      torch::GradMode::is_enabled() && parameters && x_NI.dim() == 2) {
    return joint_linear(x_NI, layers);
  }
  std::vector<torch::Tensor> results;
  for (const LinearWeights& layer : layers)
    results.push_back(torch::linear(x_NI, layer.weight, layer.bias));
  return results;
}

torch::Tensor linear(const torch::Tensor& x_NI, const LinearWeights& layer) {
  return linear_all(x_NI, {&layer, 1})[0];
}

}  // namespace attn
