// Recurrence over ragged rows.
#pragma once

#include <vector>

#include "kernels/fast_path.h"
#include "kernels/libtorch.h"
#include "model/layers/layer.h"
#include "model/layers/recurrent_cell.h"
#include "model/segments.h"

namespace attn {

/// The state of each row of a decoding step, [R, hidden]; `cell` is undefined for a GRU.
struct RecurrentState {
  torch::Tensor hidden, cell;

  /// Row r becomes row parents_R[r].
  void reorder(const torch::Tensor& parents_R);
};

/// The time-major order of ragged rows, as in a PackedSequence: all first positions, longest
/// sentence first, then all second ones, and so on.
class TimeMajor {
 public:
  explicit TimeMajor(const Segments& rows);
  torch::Tensor from_rows(const torch::Tensor& x_NI) const {
    return x_NI.index_select(0, order_N_);
  }
  torch::Tensor to_rows(const torch::Tensor& x_NI) const { return x_NI.index_select(0, back_N_); }
  /// [B, …] sorted by sentence length.
  torch::Tensor sorted(const torch::Tensor& x_B) const { return x_B.index_select(0, sentences_B_); }
  /// [T] int64 on the CPU: number of sentences with a position t.
  const torch::Tensor& batch_sizes() const { return batch_sizes_T_; }

 private:
  torch::Tensor order_N_, back_N_, sentences_B_, batch_sizes_T_;
};

/// One LSTM or GRU layer, unidirectional or bidirectional. Fast paths: the LSTM by this project's
/// kernels on a CPU (kernels/ops/lstm.h), both by LibTorch's recurrences on a GPU.
class RecurrentLayerImpl : public torch::nn::Module, public Layer {
 public:
  RecurrentLayerImpl(RecurrentCell cell, int64_t inputs, int64_t hidden, bool bidirectional);

  /// Time-major rows [N, inputs] to [N, hidden], or [N, 2 · hidden] if bidirectional. `first`
  /// [B, hidden]: initial states; undefined: zeros.
  torch::Tensor forward(const torch::Tensor& x_NI, const TimeMajor& time,
                        const torch::Tensor& first_BH = {});
  /// The state before the first position: zeros.
  RecurrentState first(int64_t rows, const torch::TensorOptions& options) const;
  /// One decoding step of each row; returns the new state.
  RecurrentState step(const torch::Tensor& x_RI, const RecurrentState& before);

  /// Matrices uniform in ±1/√hidden, biases 0, or 1 for the LSTM's forget gate.
  void reset_parameters() override;
  /// For each direction, the gates' matrices for the input and for the state.
  std::vector<torch::Tensor> hidden_matrices() const override;

 private:
  std::vector<torch::Tensor> weights(bool reverse) const;
  FastPath path() const { return cell_ == RecurrentCell::lstm ? FastPath::lstm : FastPath::gru; }
  torch::Tensor lstm_on_cpu(const torch::Tensor& x_NI, const TimeMajor& time,
                            const torch::Tensor& first_BH) const;
  // Step by step, by cell().
  torch::Tensor as_read(const torch::Tensor& x_NI, const TimeMajor& time,
                        const torch::Tensor& first_BH);
  // The state after a step from W x + b and U h + c, [R, gates · hidden].
  RecurrentState cell(const torch::Tensor& inputs_RG, const torch::Tensor& products_RG,
                      const RecurrentState& before);

  RecurrentCell cell_;
  int64_t hidden_;
  bool bidirectional_;
  std::vector<torch::Tensor> parameters_;  // per direction: W, U, b, c in LibTorch's order
};
TORCH_MODULE(RecurrentLayer);

}  // namespace attn
