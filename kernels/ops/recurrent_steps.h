// The loops over time steps that recurrent cells share. Internal to kernels/.
#pragma once

#include <initializer_list>
#include <optional>
#include <ranges>
#include <vector>

#include "kernels/cpu/table.h"
#include "kernels/ops/fp32_products.h"
#include "kernels/ops/time_steps.h"

namespace attn {

/// A state carried from step to step: `after` [N, H] holds it after each row's step, `before`
/// [N, H] receives it before, and sentences start from `first` [B, H] (null: zeros).
struct CarriedState {
  const float* after;
  const float* first;
  float* before;
};

/// For each step in order: writes the states before it, the products of the first state with
/// W [G, H] plus the bias into activations_NG, and calls cells(row, rows) for ranges of its rows,
/// which computes the states after it.
template <class Cells>
void forward_steps(const std::vector<TimeStep>& steps, const torch::Tensor& weight_GH,
                   const torch::Tensor& bias_G, const torch::Tensor& activations_NG,
                   std::initializer_list<CarriedState> states, const Cells& cells) {
  const int64_t gates = weight_GH.size(0), width = weight_GH.size(1);
  const torch::Tensor panels = fp32::panels(width, gates);
  cpu::kernels().pack_panels(weight_GH.const_data_ptr<float>(), gates, width,
                             panels.data_ptr<float>());
  float* activations = activations_NG.data_ptr<float>();
  for (const TimeStep& step : steps) {
    for (const CarriedState& state : states) {
      copy_before(step, width, state.after, state.first, state.before);
    }
    fp32::multiply({.x = states.begin()->before + step.row * width,
                    .x_stride = width,
                    .panels = panels.const_data_ptr<float>(),
                    .bias = bias_G.const_data_ptr<float>(),
                    .y = activations + step.row * gates,
                    .y_stride = gates,
                    .rows = step.rows,
                    .inputs = width,
                    .outputs = gates});
    parallel_rows(step.rows, width,
                  [&](int64_t begin, int64_t end) { cells(step.row + begin, end - begin); });
  }
}

/// For each step in reverse order: calls cells(row, begin, rows) for ranges of its rows, of which
/// the first is the step's row `begin`, and which computes d_products_NG; then writes the gradient
/// of the state before the step into d_state_BH, for the step before.
template <class Cells>
void backward_steps(const std::vector<TimeStep>& steps, const torch::Tensor& weight_GH,
                    const torch::Tensor& d_products_NG, const torch::Tensor& d_state_BH,
                    const Cells& cells) {
  const int64_t gates = weight_GH.size(0), width = weight_GH.size(1);
  const torch::Tensor panels = fp32::panels(gates, width);
  cpu::kernels().pack_columns(weight_GH.const_data_ptr<float>(), width, gates, width,
                              panels.data_ptr<float>());
  const float* d_products = d_products_NG.const_data_ptr<float>();
  for (const TimeStep& step : std::views::reverse(steps)) {
    parallel_rows(step.rows, width,
                  [&](int64_t begin, int64_t end) { cells(step.row + begin, begin, end - begin); });
    fp32::multiply({.x = d_products + step.row * gates,
                    .x_stride = gates,
                    .panels = panels.const_data_ptr<float>(),
                    .y = d_state_BH.data_ptr<float>(),
                    .y_stride = width,
                    .rows = step.rows,
                    .inputs = gates,
                    .outputs = width});
  }
}

/// A recurrence by an autograd function of these steps; `gates` per unit of its cell.
template <class States>
torch::Tensor recurrent_states(const RecurrenceInput& in, const LinearWeights& state,
                               int64_t gates) {
  check_recurrence(in, state, gates);
  if (in.gates_NG.size(0) == 0) return in.gates_NG.narrow(1, 0, state.weight.size(1));
  std::optional<torch::Tensor> first;
  if (in.first_BH.defined()) first = in.first_BH.contiguous();
  return States::apply(in.gates_NG.contiguous(), first, state.weight.contiguous(),
                       state.bias.contiguous(), in.batch_sizes_T.contiguous(), in.reverse);
}

}  // namespace attn
