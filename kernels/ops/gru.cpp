// Fast path gru: gru bd9a8f99
// Fast path gru: recurrence 2a16393b
#include <optional>
#include <vector>

#include "kernels/cpu/table.h"
#include "kernels/ops/fp32_products.h"
#include "kernels/ops/recurrence.h"
#include "kernels/ops/recurrent_steps.h"
#include "kernels/ops/time_steps.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class GruStates : public torch::autograd::Function<GruStates> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& inputs_NG,
                               const std::optional<torch::Tensor>& first_BH,
                               const torch::Tensor& weight_GH, const torch::Tensor& bias_G,
                               const torch::Tensor& batch_sizes_T, bool reverse) {
    const int64_t rows = inputs_NG.size(0), gates = weight_GH.size(0), width = weight_GH.size(1);
    const torch::Tensor activations_NG = torch::empty_like(inputs_NG);
    const torch::Tensor hidden_NH = torch::empty({rows, width}, inputs_NG.options());
    const torch::Tensor product_NH = torch::empty_like(hidden_NH);
    const torch::Tensor before_NH = torch::empty_like(hidden_NH);
    const float* inputs = inputs_NG.const_data_ptr<float>();
    const float* first = first_BH ? first_BH->const_data_ptr<float>() : nullptr;
    float* activations = activations_NG.data_ptr<float>();
    float* hidden = hidden_NH.data_ptr<float>();
    float* product = product_NH.data_ptr<float>();
    float* before = before_NH.data_ptr<float>();
    forward_steps(steps_of(batch_sizes_T, reverse), weight_GH, bias_G, activations_NG,
                  {{hidden, first, before}}, [&](int64_t row, int64_t count) {
                    cpu::kernels().gru_cells({.rows = count,
                                              .width = width,
                                              .inputs = inputs + row * gates,
                                              .gates = activations + row * gates,
                                              .product = product + row * width,
                                              .before = before + row * width,
                                              .hidden = hidden + row * width});
                  });
    context->save_for_backward({activations_NG, product_NH, before_NH, weight_GH, batch_sizes_T});
    context->saved_data["reverse"] = reverse;
    context->saved_data["first"] = first_BH.has_value();
    return hidden_NH;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &activations_NG = saved[0], &product_NH = saved[1], &before_NH = saved[2];
    const torch::Tensor& weight_GH = saved[3];
    const torch::Tensor d_hidden_NH = gradients[0].contiguous();
    const int64_t gates = weight_GH.size(0), width = weight_GH.size(1);
    const torch::Tensor d_inputs_NG = torch::empty_like(activations_NG);
    const torch::Tensor d_products_NG = torch::empty_like(activations_NG);
    const std::vector<TimeStep> steps = steps_of(saved[4], context->saved_data["reverse"].toBool());
    // From the step computed after the one at hand, by its products and by its update gate.
    const torch::Tensor d_state_BH = torch::zeros({max_rows(steps), width}, before_NH.options());
    const torch::Tensor d_kept_BH = torch::zeros_like(d_state_BH);
    const float* activations = activations_NG.const_data_ptr<float>();
    const float* product = product_NH.const_data_ptr<float>();
    const float* before = before_NH.const_data_ptr<float>();
    const float* d_output = d_hidden_NH.const_data_ptr<float>();
    const float* d_state = d_state_BH.const_data_ptr<float>();
    float* d_inputs = d_inputs_NG.data_ptr<float>();
    float* d_products = d_products_NG.data_ptr<float>();
    float* d_kept = d_kept_BH.data_ptr<float>();
    backward_steps(steps, weight_GH, d_products_NG, d_state_BH,
                   [&](int64_t row, int64_t begin, int64_t count) {
                     cpu::kernels().gru_cells_backward({.rows = count,
                                                        .width = width,
                                                        .gates = activations + row * gates,
                                                        .product = product + row * width,
                                                        .before = before + row * width,
                                                        .d_output = d_output + row * width,
                                                        .d_hidden = d_state + begin * width,
                                                        .d_kept = d_kept + begin * width,
                                                        .d_inputs = d_inputs + row * gates,
                                                        .d_products = d_products + row * gates});
                   });
    const torch::Tensor d_weight_GH = torch::zeros_like(weight_GH);
    fp32::add_weight_gradient(d_products_NG, before_NH, d_weight_GH.data_ptr<float>());
    const bool first = context->saved_data["first"].toBool();
    return {d_inputs_NG,     first ? d_state_BH + d_kept_BH : torch::Tensor(),
            d_weight_GH,     d_products_NG.sum(0),
            torch::Tensor(), torch::Tensor()};
  }
};

class GruStep : public torch::autograd::Function<GruStep> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& inputs_RG,
                               const torch::Tensor& products_RG, const torch::Tensor& before_RH) {
    const int64_t rows = before_RH.size(0), width = before_RH.size(1), gates = 3 * width;
    const torch::Tensor activations_RG = products_RG.clone();
    const torch::Tensor hidden_RH = torch::empty_like(before_RH);
    const torch::Tensor product_RH = torch::empty_like(before_RH);
    parallel_rows(rows, width, [&](int64_t begin, int64_t end) {
      cpu::kernels().gru_cells({.rows = end - begin,
                                .width = width,
                                .inputs = inputs_RG.const_data_ptr<float>() + begin * gates,
                                .gates = activations_RG.data_ptr<float>() + begin * gates,
                                .product = product_RH.data_ptr<float>() + begin * width,
                                .before = before_RH.const_data_ptr<float>() + begin * width,
                                .hidden = hidden_RH.data_ptr<float>() + begin * width});
    });
    context->save_for_backward({activations_RG, product_RH, before_RH});
    return hidden_RH;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &activations_RG = saved[0], &product_RH = saved[1], &before_RH = saved[2];
    const int64_t rows = before_RH.size(0), width = before_RH.size(1), gates = 3 * width;
    const torch::Tensor d_inputs_RG = torch::empty_like(activations_RG);
    const torch::Tensor d_products_RG = torch::empty_like(activations_RG);
    const torch::Tensor d_hidden_RH = gradients[0].contiguous();
    const torch::Tensor none_RH = torch::zeros_like(before_RH);
    const torch::Tensor d_kept_RH = torch::zeros_like(before_RH);
    parallel_rows(rows, width, [&](int64_t begin, int64_t end) {
      cpu::kernels().gru_cells_backward(
          {.rows = end - begin,
           .width = width,
           .gates = activations_RG.const_data_ptr<float>() + begin * gates,
           .product = product_RH.const_data_ptr<float>() + begin * width,
           .before = before_RH.const_data_ptr<float>() + begin * width,
           .d_output = d_hidden_RH.const_data_ptr<float>() + begin * width,
           .d_hidden = none_RH.const_data_ptr<float>() + begin * width,
           .d_kept = d_kept_RH.data_ptr<float>() + begin * width,
           .d_inputs = d_inputs_RG.data_ptr<float>() + begin * gates,
           .d_products = d_products_RG.data_ptr<float>() + begin * gates});
    });
    return {d_inputs_RG, d_products_RG, d_kept_RH};
  }
};

}  // namespace

torch::Tensor gru_states(const RecurrenceInput& in, const LinearWeights& state) {
  return recurrent_states<GruStates>(in, state, 3);
}

torch::Tensor gru_step(const torch::Tensor& inputs_RG, const torch::Tensor& products_RG,
                       const torch::Tensor& hidden_RH) {
  check_step(inputs_RG, products_RG, hidden_RH, 3);
  return GruStep::apply(inputs_RG.contiguous(), products_RG.contiguous(), hidden_RH.contiguous());
}

}  // namespace attn
