// Fast path lstm: lstm 85be58c0
// Fast path lstm: recurrence 6ae53595
#include "kernels/ops/lstm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <vector>

#include "kernels/cpu/table.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/fp32_products.h"
#include "kernels/ops/linear_products.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kGates = 4;  // input, forget, cell update, output

// Rows [row, row + rows) of a time step; the first `continued` of them follow the rows from
// `before` on, the others start.
struct TimeStep {
  int64_t row, rows, before, continued;
};

// In the order of computation.
std::vector<TimeStep> steps_of(const torch::Tensor& batch_sizes_T, bool reverse) {
  std::vector<TimeStep> steps;
  const auto* sizes = batch_sizes_T.const_data_ptr<int64_t>();
  for (int64_t t = 0, row = 0; t < batch_sizes_T.size(0); row += sizes[t++]) {
    steps.push_back({row, sizes[t], 0, 0});
  }
  if (reverse) std::reverse(steps.begin(), steps.end());
  for (size_t s = 1; s < steps.size(); ++s) {
    steps[s].before = steps[s - 1].row;
    steps[s].continued = std::min(steps[s - 1].rows, steps[s].rows);
  }
  return steps;
}

template <class Work>
void parallel_rows(int64_t rows, int64_t width, const Work& work) {
  constexpr int64_t kCellsAThread = 2048;
  at::parallel_for(0, rows, std::max<int64_t>(1, kCellsAThread / width), work);
}

// Copies the states of the rows before a step, `first` [B, width] (null: zeros) where it starts.
void copy_before(const TimeStep& step, int64_t width, const float* states, const float* first,
                 float* before) {
  float* to = before + step.row * width;
  std::copy_n(states + step.before * width, step.continued * width, to);
  to += step.continued * width;
  const int64_t rest = (step.rows - step.continued) * width;
  if (first) {
    std::copy_n(first + step.continued * width, rest, to);
  } else {
    std::fill_n(to, rest, 0.0F);
  }
}

void check_recurrence(const RecurrenceInput& in, const LinearWeights& state) {
  const int64_t width = state.weight.size(1), gates = kGates * width;
  TORCH_CHECK(in.gates_NG.dim() == 2 && in.gates_NG.size(1) == gates &&
                  state.weight.size(0) == gates && state.bias.numel() == gates,
              "lstm: gates ", in.gates_NG.sizes(), ", weight ", state.weight.sizes());
  TORCH_CHECK(runs_on_cpu_kernels(in.gates_NG) && runs_on_cpu_kernels(state.weight),
              "lstm requires float32 on a CPU");
  const int64_t rows = in.batch_sizes_T.sum().item<int64_t>();
  TORCH_CHECK(rows == in.gates_NG.size(0), "lstm: batch sizes of ", rows, " rows, not ",
              in.gates_NG.size(0));
  TORCH_CHECK(!in.first_BH.defined() || rows == 0 ||
                  (in.first_BH.dim() == 2 && in.first_BH.size(1) == width &&
                   in.first_BH.size(0) == in.batch_sizes_T[0].item<int64_t>()),
              "lstm: first states ", in.first_BH.sizes());
}

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
    float* hidden_before = hidden_before_NH.data_ptr<float>();
    float* cell_before = cell_before_NH.data_ptr<float>();
    const torch::Tensor panels = fp32::panels(width, gates);
    cpu::kernels().pack_panels(weight_GH.const_data_ptr<float>(), gates, width,
                               panels.data_ptr<float>());
    for (const TimeStep& step : steps_of(batch_sizes_T, reverse)) {
      copy_before(step, width, hidden, first, hidden_before);
      copy_before(step, width, cell, nullptr, cell_before);
      fp32::multiply({.x = hidden_before + step.row * width,
                      .x_stride = width,
                      .panels = panels.const_data_ptr<float>(),
                      .bias = bias_G.const_data_ptr<float>(),
                      .y = activations + step.row * gates,
                      .y_stride = gates,
                      .rows = step.rows,
                      .inputs = width,
                      .outputs = gates});
      parallel_rows(step.rows, width, [&](int64_t begin, int64_t end) {
        const int64_t row = step.row + begin;
        cpu::kernels().lstm_cells({.rows = end - begin,
                                   .width = width,
                                   .inputs = inputs + row * gates,
                                   .gates = activations + row * gates,
                                   .before = cell_before + row * width,
                                   .cell = cell + row * width,
                                   .hidden = hidden + row * width});
      });
    }
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
    int64_t most = 0;
    for (const TimeStep& step : steps) most = std::max(most, step.rows);
    // From the step computed after the one at hand; zero, or a sentence's first state, beyond it.
    const torch::Tensor d_state_BH = torch::zeros({most, width}, cell_NH.options());
    const torch::Tensor d_cell_BH = torch::zeros_like(d_state_BH);
    const float* activations = activations_NG.const_data_ptr<float>();
    const float* cell = cell_NH.const_data_ptr<float>();
    const float* cell_before = saved[3].const_data_ptr<float>();
    const float* d_output = d_hidden_NH.const_data_ptr<float>();
    float* d_state = d_state_BH.data_ptr<float>();
    float* d_gates = d_gates_NG.data_ptr<float>();
    float* d_cell = d_cell_BH.data_ptr<float>();
    const torch::Tensor panels = fp32::panels(gates, width);
    cpu::kernels().pack_columns(weight_GH.const_data_ptr<float>(), width, gates, width,
                                panels.data_ptr<float>());
    for (const TimeStep& step : std::views::reverse(steps)) {
      parallel_rows(step.rows, width, [&](int64_t begin, int64_t end) {
        const int64_t row = step.row + begin;
        cpu::kernels().lstm_cells_backward({.rows = end - begin,
                                            .width = width,
                                            .gates = activations + row * gates,
                                            .before = cell_before + row * width,
                                            .cell = cell + row * width,
                                            .d_output = d_output + row * width,
                                            .d_hidden = d_state + begin * width,
                                            .d_cell = d_cell + begin * width,
                                            .d_gates = d_gates + row * gates});
      });
      // The gradient of the state before the step, for the step before.
      fp32::multiply({.x = d_gates + step.row * gates,
                      .x_stride = gates,
                      .panels = panels.const_data_ptr<float>(),
                      .y = d_state,
                      .y_stride = width,
                      .rows = step.rows,
                      .inputs = gates,
                      .outputs = width});
    }
    const torch::Tensor d_weight_GH = torch::zeros_like(weight_GH);
    fp32_linear_products().add_weight_gradients(
        saved[2], std::array{WeightGradient{d_gates_NG, d_weight_GH.data_ptr<float>()}});
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
  check_recurrence(in, state);
  if (in.gates_NG.size(0) == 0) return in.gates_NG.narrow(1, 0, state.weight.size(1));
  std::optional<torch::Tensor> first;
  if (in.first_BH.defined()) first = in.first_BH.contiguous();
  return LstmStates::apply(in.gates_NG.contiguous(), first, state.weight.contiguous(),
                           state.bias.contiguous(), in.batch_sizes_T.contiguous(), in.reverse);
}

LstmState lstm_step(const torch::Tensor& inputs_RG, const torch::Tensor& products_RG,
                    const torch::Tensor& cell_RH) {
  TORCH_CHECK(
      cell_RH.dim() == 2 && inputs_RG.sizes() == products_RG.sizes() &&
          inputs_RG.sizes() == torch::IntArrayRef({cell_RH.size(0), kGates * cell_RH.size(1)}),
      "lstm_step: inputs ", inputs_RG.sizes(), ", products ", products_RG.sizes(), ", cells ",
      cell_RH.sizes());
  TORCH_CHECK(runs_on_cpu_kernels(inputs_RG) && runs_on_cpu_kernels(products_RG) &&
                  runs_on_cpu_kernels(cell_RH),
              "lstm_step requires float32 on a CPU");
  const variable_list after =
      LstmStep::apply(inputs_RG.contiguous(), products_RG.contiguous(), cell_RH.contiguous());
  return {after[0], after[1]};
}

}  // namespace attn
