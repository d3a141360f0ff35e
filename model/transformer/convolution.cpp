#include "model/transformer/convolution.h"

namespace attn {

ConvolutionImpl::ConvolutionImpl(int64_t width, const ConvolutionShape& shape, bool gated)
    : shape_(shape), gated_(gated) {
  taps = register_module("taps", Linear(shape.kernel * width, (gated ? 2 : 1) * width));
}

torch::Tensor ConvolutionImpl::combine(const torch::Tensor& taps_NI) {
  const torch::Tensor out = taps(taps_NI);
  return gated_ ? torch::glu(out, 1) : out;
}

torch::Tensor ConvolutionImpl::forward(const torch::Tensor& x_ND, const Segments& rows) {
  // Formula convolution: fast path step.
  return combine(shifted_rows(x_ND, rows, shape_));
  // End of formula.
}

torch::Tensor ConvolutionImpl::step(std::span<const torch::Tensor> inputs,
                                    std::span<const std::vector<int32_t>> backpointers) {
  const torch::Tensor& present_RD = inputs.back();
  const auto position = static_cast<int64_t>(inputs.size()) - 1;
  std::vector<torch::Tensor> parts;
  for (int64_t k = 0; k < shape_.kernel; ++k) {
    const int64_t t = position + shape_.shift(k);
    if (t < 0) {
      parts.push_back(torch::zeros_like(present_RD));
    } else {
      parts.push_back(
          inputs[t].index_select(0, int64_tensor(backpointers[t], present_RD.device())));
    }
  }
  return combine(torch::cat(parts, 1));
}

}  // namespace attn
