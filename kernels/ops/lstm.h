// The recurrence of an LSTM over ragged rows.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"

namespace attn {

/// One direction of an LSTM over time-major rows, as of a PackedSequence.
struct LstmInput {
  /// Input products with their bias, W x + b, [N, 4 · hidden]: gates input, forget, cell, output.
  torch::Tensor gates_NG;
  /// Number of sentences with a position t, [T] int64 on the CPU, not increasing, all positive.
  torch::Tensor batch_sizes_T;
  /// Hidden state before the first step, [batch_sizes[0], hidden]; undefined: zeros. The cell's is
  /// zero.
  torch::Tensor first_BH = {};
  bool reverse = false;  ///< from the last position of each sentence to its first
};

/// Hidden states [N, hidden] for the state weights U [4 · hidden, hidden] and their bias. float32,
/// on a CPU: one product and one kernel per step, and one product for the gradient of U. As
/// torch::lstm, to 1e-5 in outputs and gradients. Differentiable.
torch::Tensor lstm_states(const LstmInput& in, const LinearWeights& state);

}  // namespace attn
