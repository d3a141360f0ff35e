// The time steps of a recurrence over ragged rows. Internal to kernels/.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/dropout.h"
#include "kernels/ops/recurrence.h"

namespace attn {

/// Rows [row, row + rows) of a time step; the first `continued` of them follow the rows from
/// `before` on, the others start.
struct TimeStep {
  int64_t row, rows, before, continued;
};

/// In the order of computation.
inline std::vector<TimeStep> steps_of(const torch::Tensor& batch_sizes_T, bool reverse) {
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

inline int64_t max_rows(const std::vector<TimeStep>& steps) {
  int64_t max = 0;
  for (const TimeStep& step : steps) max = std::max(max, step.rows);
  return max;
}

template <class Work>
void parallel_rows(int64_t rows, int64_t width, const Work& work) {
  constexpr int64_t kCellsAThread = 2048;
  at::parallel_for(0, rows, std::max<int64_t>(1, kCellsAThread / width), work);
}

/// Copies the states of the rows before a step, `first` [B, width] (null: zeros) where it starts.
inline void copy_before(const TimeStep& step, int64_t width, const float* states,
                        const float* first, float* before) {
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

/// Throws if the shapes do not fit a cell with this many gates.
inline void check_recurrence(const RecurrenceInput& in, const LinearWeights& state, int64_t gates) {
  const int64_t width = state.weight.size(1);
  TORCH_CHECK(in.gates_NG.dim() == 2 && in.gates_NG.size(1) == gates * width &&
                  state.weight.size(0) == gates * width && state.bias.numel() == gates * width,
              "recurrence: gates ", in.gates_NG.sizes(), ", weight ", state.weight.sizes());
  TORCH_CHECK(runs_on_cpu_kernels(in.gates_NG) && runs_on_cpu_kernels(state.weight),
              "recurrence requires float32 on a CPU");
  const int64_t rows = in.batch_sizes_T.sum().item<int64_t>();
  TORCH_CHECK(rows == in.gates_NG.size(0), "recurrence: batch sizes of ", rows, " rows, not ",
              in.gates_NG.size(0));
  TORCH_CHECK(!in.first_BH.defined() || rows == 0 ||
                  (in.first_BH.dim() == 2 && in.first_BH.size(1) == width &&
                   in.first_BH.size(0) == in.batch_sizes_T[0].item<int64_t>()),
              "recurrence: first states ", in.first_BH.sizes());
}

inline void check_step(const torch::Tensor& inputs_RG, const torch::Tensor& products_RG,
                       const torch::Tensor& state_RH, int64_t gates) {
  TORCH_CHECK(
      state_RH.dim() == 2 && inputs_RG.sizes() == products_RG.sizes() &&
          inputs_RG.sizes() == torch::IntArrayRef({state_RH.size(0), gates * state_RH.size(1)}),
      "recurrent step: inputs ", inputs_RG.sizes(), ", products ", products_RG.sizes(), ", states ",
      state_RH.sizes());
  TORCH_CHECK(runs_on_cpu_kernels(inputs_RG) && runs_on_cpu_kernels(products_RG) &&
                  runs_on_cpu_kernels(state_RH),
              "a recurrent step requires float32 on a CPU");
}

}  // namespace attn
