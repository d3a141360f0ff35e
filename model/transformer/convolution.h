// The convolution as a token mixer.
#pragma once

#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/convolution.h"
#include "model/layers/linear.h"
#include "model/segments.h"

namespace attn {

/// [N, D] to [N, D], with zeros beyond the ends of a sentence; the input's shifted copies times one
/// matrix.
class ConvolutionImpl : public torch::nn::Module {
 public:
  /// `gated`: a · σ(b) of twice the outputs (gated linear unit).
  ConvolutionImpl(int64_t width, const ConvolutionShape& shape, bool gated);

  torch::Tensor forward(const torch::Tensor& x_ND, const Segments& rows);
  /// One decoding step, causal: inputs[t] holds the rows of position t up to the current one, [R of
  /// that step, D]; backpointers[t][r] is the row at step t that row r descends from.
  torch::Tensor step(std::span<const torch::Tensor> inputs,
                     std::span<const std::vector<int32_t>> backpointers);
  /// Number of earlier positions that step() uses.
  int64_t past() const { return shape_.past(); }

  /// Weight [D or 2 · D, kernel · D], the taps in the order of time.
  Linear taps = nullptr;

 private:
  torch::Tensor combine(const torch::Tensor& taps_NI);

  ConvolutionShape shape_;
  bool gated_;
};
TORCH_MODULE(Convolution);

}  // namespace attn
