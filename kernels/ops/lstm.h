// The LSTM over ragged rows, and single steps of it. float32, on a CPU; differentiable.
// As it is read, gnmt of Table 2 has 0.79 of the training speed (results/measurements.md).
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"

namespace attn {

/// One direction of a recurrent layer over time-major rows, as of a PackedSequence.
struct RecurrenceInput {
  /// Input products with their bias, W x + b, [N, 4 · hidden]: the gates input, forget, cell update
  /// and output.
  torch::Tensor gates_NG;
  /// Number of sentences with a position t, [T] int64 on the CPU, not increasing, all positive.
  torch::Tensor batch_sizes_T;
  /// Hidden state before the first step, [batch_sizes[0], hidden]; undefined: zeros. The cell is
  /// zero.
  torch::Tensor first_BH = {};
  bool reverse = false;  ///< from the last position of each sentence to its first
};

/// Hidden states [N, hidden] for the state weights U [4 · hidden, hidden] and their bias: one
/// product and one kernel per step, and one product for the gradient of U. As torch::lstm, to 1e-5
/// in outputs and gradients.
torch::Tensor lstm_states(const RecurrenceInput& in, const LinearWeights& state);

struct LstmState {
  torch::Tensor hidden_RH, cell_RH;
};

/// The state after a step from W x + b and U h + c, both [R, 4 · hidden], and the cell before.
LstmState lstm_step(const torch::Tensor& inputs_RG, const torch::Tensor& products_RG,
                    const torch::Tensor& cell_RH);

}  // namespace attn
