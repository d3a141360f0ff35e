// Convolutions over packed rows: shifted copies side by side, so that a convolution is one product
// with a weight [outputs, kernel · D] (model/layers/linear.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "model/segments.h"

namespace attn {

/// The positions that a convolution reads: `kernel` of them, `dilation` apart; the last one is the
/// position itself if causal, else the middle one (of an odd kernel).
struct ConvolutionShape {
  int64_t kernel = 3;
  int64_t dilation = 1;
  bool causal = false;

  /// Rows from a position to what tap `k` reads; negative: earlier.
  int64_t shift(int64_t k) const {
    return (k - (causal ? kernel - 1 : (kernel - 1) / 2)) * dilation;
  }
  /// Number of earlier positions that it reads.
  int64_t past() const { return -shift(0); }
};

/// [N, D] to [N, kernel · D]: tap k of row i is row i + shape.shift(k) of its sentence, zeros
/// beyond the sentence's ends. Differentiable. TORCH_CHECKs an odd kernel unless causal.
torch::Tensor shifted_rows(const torch::Tensor& x_ND, const Segments& rows,
                           const ConvolutionShape& shape);

/// For each current row, the row of each earlier decoding step that it continues (back-pointers).
/// Shared by all convolutions of a decoder, so that they do not reorder their state.
class StepAncestors {
 public:
  /// `span` is the maximum `back` of rows().
  explicit StepAncestors(int64_t span) : span_(span) {}
  /// Begins a step: row r continues row parents[r] of the previous step. At the first step the
  /// parents are ignored.
  void advance(std::span<const int64_t> parents, torch::Device device);
  int64_t steps() const { return steps_; }  ///< begun so far
  /// [R] int64: for each current row, its row `back` steps ago (1 to span, below steps()).
  const torch::Tensor& rows(int64_t back) const { return rows_[static_cast<size_t>(back - 1)]; }

 private:
  int64_t span_, steps_ = 0;
  std::vector<torch::Tensor> rows_;  // by steps back, from 1
};

/// The inputs of a causal convolution in the last steps of decoding.
class StepInputs {
 public:
  /// Inputs [R, D] of the current step, which are stored, to [R, kernel · D] as shifted_rows. To be
  /// called once after each StepAncestors::advance.
  torch::Tensor window(const torch::Tensor& x_RD, const StepAncestors& ancestors,
                       const ConvolutionShape& shape);

 private:
  std::vector<torch::Tensor> past_;  // inputs of the last shape.past() steps, the newest first
};

}  // namespace attn
