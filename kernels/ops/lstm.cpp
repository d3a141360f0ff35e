// Fast path lstm: lstm 85be58c0
// Fast path lstm: recurrence 2a16393b
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

class LstmStates : public torch::autograd::Function<LstmStates> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& inputs_NG,
                               const std::optional<torch::Tensor>& first_BH,
                               const torch::Tensor& weight_GH, const torch::Tensor& bias_G,
                               const torch::Tensor& batch_sizes_T, bool reverse) {
    const int64_t rows = inputs_NG.size(0), gates = weight_GH.size(0), width = weight_GH.size(1);
    const torch::Tensor activations_NG = torch::empty_like(inputs_NG);
    const torch::Tensor hidden_NH = torch::empty({rows, width}, inputs_NG.options());
    const torch::Tensor cell_NH = torch::empty_like(hidden_NH);
    const torch::Tensor hidden_before_NH = torch::empty_like(hidden_NH);
    const torch::Tensor cell_before_NH = torch::empty_like(hidden_NH);
    const float* inputs = inputs_NG.const_data_ptr<float>();
    const float* first = first_BH ? first_BH->const_data_ptr<float>() : nullptr;
    float* activations = activations_NG.data_ptr<float>();
    float* hidden = hidden_NH.data_ptr<float>();
    float* cell = cell_NH.data_ptr<float>();
    float* cell_before = cell_before_NH.data_ptr<float>();
    forward_steps(
        steps_of(batch_sizes_T, reverse), weight_GH, bias_G, activations_NG,
        {{hidden, first, hidden_before_NH.data_ptr<float>()}, {cell, nullptr, cell_before}},
        [&](int64_t row, int64_t count) {
          cpu::kernels().lstm_cells({.rows = count,
                                     .width = width,
                                     .inputs = inputs + row * gates,
                                     .gates = activations + row * gates,
                                     .before = cell_before + row * width,
                                     .cell = cell + row * width,
                                     .hidden = hidden + row * width});
        });
    context->save_for_backward(
        {activations_NG, cell_NH, hidden_before_NH, cell_before_NH, weight_GH, batch_sizes_T});
    context->saved_data["reverse"] = reverse;
    context->saved_data["first"] = first_BH.has_value();
    return hidden_NH;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &activations_NG = saved[0], &cell_NH = saved[1], &weight_GH = saved[4];
    const torch::Tensor d_hidden_NH = gradients[0].contiguous();
    const int64_t gates = weight_GH.size(0), width = weight_GH.size(1);
    const torch::Tensor d_gates_NG = torch::empty_like(activations_NG);
    const std::vector<TimeStep> steps = steps_of(saved[5], context->saved_data["reverse"].toBool());
    // From the step computed after the one at hand; zero, or a sentence's first state, beyond it.
    const torch::Tensor d_state_BH = torch::zeros({max_rows(steps), width}, cell_NH.options());
    const torch::Tensor d_cell_BH = torch::zeros_like(d_state_BH);
    const float* activations = activations_NG.const_data_ptr<float>();
    const float* cell = cell_NH.const_data_ptr<float>();
    const float* cell_before = saved[3].const_data_ptr<float>();
    const float* d_output = d_hidden_NH.const_data_ptr<float>();
    const float* d_state = d_state_BH.const_data_ptr<float>();
    float* d_gates = d_gates_NG.data_ptr<float>();
    float* d_cell = d_cell_BH.data_ptr<float>();
    backward_steps(steps, weight_GH, d_gates_NG, d_state_BH,
                   [&](int64_t row, int64_t begin, int64_t count) {
                     cpu::kernels().lstm_cells_backward({.rows = count,
                                                         .width = width,
                                                         .gates = activations + row * gates,
                                                         .before = cell_before + row * width,
                                                         .cell = cell + row * width,
                                                         .d_output = d_output + row * width,
                                                         .d_hidden = d_state + begin * width,
                                                         .d_cell = d_cell + begin * width,
                                                         .d_gates = d_gates + row * gates});
                   });
    const torch::Tensor d_weight_GH = torch::zeros_like(weight_GH);
    fp32::add_weight_gradient(d_gates_NG, saved[2], d_weight_GH.data_ptr<float>());
    const bool first = context->saved_data["first"].toBool();
    return {d_gates_NG,      first ? d_state_BH : torch::Tensor(),
            d_weight_GH,     d_gates_NG.sum(0),
            torch::Tensor(), torch::Tensor()};
  }
};

class LstmStep : public torch::autograd::Function<LstmStep> {
 public:
  static variable_list forward(AutogradContext* context, const torch::Tensor& inputs_RG,
                               const torch::Tensor& products_RG, const torch::Tensor& cell_RH) {
    const int64_t rows = cell_RH.size(0), width = cell_RH.size(1), gates = 4 * width;
    const torch::Tensor activations_RG = products_RG.clone();
    const torch::Tensor hidden_RH = torch::empty_like(cell_RH),
                        after_RH = torch::empty_like(cell_RH);
    parallel_rows(rows, width, [&](int64_t begin, int64_t end) {
      cpu::kernels().lstm_cells({.rows = end - begin,
                                 .width = width,
                                 .inputs = inputs_RG.const_data_ptr<float>() + begin * gates,
                                 .gates = activations_RG.data_ptr<float>() + begin * gates,
                                 .before = cell_RH.const_data_ptr<float>() + begin * width,
                                 .cell = after_RH.data_ptr<float>() + begin * width,
                                 .hidden = hidden_RH.data_ptr<float>() + begin * width});
    });
    context->save_for_backward({activations_RG, cell_RH, after_RH});
    return {hidden_RH, after_RH};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &activations_RG = saved[0], &cell_RH = saved[1], &after_RH = saved[2];
    const int64_t rows = cell_RH.size(0), width = cell_RH.size(1), gates = 4 * width;
    const torch::Tensor d_gates_RG = torch::empty_like(activations_RG);
    const torch::Tensor d_hidden_RH = gradients[0].contiguous(),
                        none_RH = torch::zeros_like(cell_RH);
    const torch::Tensor d_cell_RH = gradients[1].clone(at::MemoryFormat::Contiguous);
    parallel_rows(rows, width, [&](int64_t begin, int64_t end) {
      cpu::kernels().lstm_cells_backward(
          {.rows = end - begin,
           .width = width,
           .gates = activations_RG.const_data_ptr<float>() + begin * gates,
           .before = cell_RH.const_data_ptr<float>() + begin * width,
           .cell = after_RH.const_data_ptr<float>() + begin * width,
           .d_output = d_hidden_RH.const_data_ptr<float>() + begin * width,
           .d_hidden = none_RH.const_data_ptr<float>() + begin * width,
           .d_cell = d_cell_RH.data_ptr<float>() + begin * width,
           .d_gates = d_gates_RG.data_ptr<float>() + begin * gates});
    });
    return {d_gates_RG, d_gates_RG, d_cell_RH};
  }
};

}  // namespace

torch::Tensor lstm_states(const RecurrenceInput& in, const LinearWeights& state) {
  return recurrent_states<LstmStates>(in, state, 4);
}

LstmState lstm_step(const torch::Tensor& inputs_RG, const torch::Tensor& products_RG,
                    const torch::Tensor& cell_RH) {
  check_step(inputs_RG, products_RG, cell_RH, 4);
  const variable_list after =
      LstmStep::apply(inputs_RG.contiguous(), products_RG.contiguous(), cell_RH.contiguous());
  return {after[0], after[1]};
}

}  // namespace attn
