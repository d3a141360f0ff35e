// The convolution as a token mixer.
#pragma once

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
  ConvolutionImpl(int64_t width, const ConvolutionShape& shape, bool gated)
      : shape_(shape), gated_(gated) {
    taps = register_module("taps", Linear(shape.kernel * width, (gated ? 2 : 1) * width));
  }

  torch::Tensor forward(const torch::Tensor& x_ND, const Segments& rows) {
    // Formula convolution: fast path transformer_step.
    return combine(shifted_rows(x_ND, rows, shape_));
    // End of formula.
  }
  /// One decoding step, causal, [R, D] to [R, D].
  torch::Tensor step(const torch::Tensor& x_RD, StepInputs& inputs,
                     const StepAncestors& ancestors) {
    return combine(inputs.window(x_RD, ancestors, shape_));
  }

  /// Weight [D or 2 · D, kernel · D], the taps in the order of time.
  Linear taps = nullptr;

 private:
  torch::Tensor combine(const torch::Tensor& taps_NI) {
    const torch::Tensor out = taps(taps_NI);
    return gated_ ? torch::glu(out, 1) : out;
  }

  ConvolutionShape shape_;
  bool gated_;
};
TORCH_MODULE(Convolution);

}  // namespace attn
