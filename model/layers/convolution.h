// Convolutions over packed rows: shifted copies side by side, so that a convolution is one product
// with a weight [outputs, kernel · D] (model/layers/linear.h).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"
#include "model/segments.h"
#include "model/step_ancestors.h"

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
