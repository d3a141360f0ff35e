#include "model/layers/convolution.h"

namespace attn {

torch::Tensor shifted_rows(const torch::Tensor& x_ND, const Segments& rows,
                           const ConvolutionShape& shape) {
  TORCH_CHECK(x_ND.dim() == 2 && x_ND.size(0) == rows.rows(), "shifted_rows: got ", x_ND.sizes(),
              ", expected ", rows.rows(), " rows");
  TORCH_CHECK(shape.causal || shape.kernel % 2 == 1, "shifted_rows: kernel ", shape.kernel,
              "; one that is not causal must be odd");
  if (shape.kernel == 1) return x_ND;
  // Formula shifted_rows: fast paths transformer_step, convolutional_step, bytenet_step.
  const torch::TensorOptions options = rows.positions().options();
  const torch::Tensor shifts_T =
      torch::arange(shape.kernel, options) * shape.dilation + shape.shift(0);
  const torch::Tensor at_NT = rows.positions().unsqueeze(1) + shifts_T;
  const torch::Tensor inside_NT = (at_NT >= 0) & (at_NT < rows.lengths_of_rows().unsqueeze(1));
  // Outside the sentence, a tap reads its own row, which is then replaced by zeros. A common row of
  // zeros would be slow on a GPU: backward would add the gradients of all these taps to it one
  // after the other.
  const torch::Tensor own_N = torch::arange(x_ND.size(0), options);
  const torch::Tensor read_NT =
      torch::where(inside_NT, own_N.unsqueeze(1) + shifts_T, own_N.unsqueeze(1));
  return x_ND.index_select(0, read_NT.flatten())
      .view({x_ND.size(0), shape.kernel, x_ND.size(1)})
      .masked_fill(~inside_NT.unsqueeze(2), 0.0)
      .flatten(1);
  // End of formula.
}

torch::Tensor StepInputs::window(const torch::Tensor& x_RD, const StepAncestors& ancestors,
                                 const ConvolutionShape& shape) {
  TORCH_CHECK(shape.causal, "a convolution that is not causal cannot decode step by step");
  std::vector<torch::Tensor> taps;
  for (int64_t k = 0; k + 1 < shape.kernel; ++k) {
    const int64_t back = -shape.shift(k);
    taps.push_back(back < ancestors.steps() ? past_[static_cast<size_t>(back - 1)].index_select(
                                                  0, ancestors.rows(back, x_RD.device()))
                                            : torch::zeros_like(x_RD));
  }
  taps.push_back(x_RD);
  past_.insert(past_.begin(), x_RD);
  if (static_cast<int64_t>(past_.size()) > shape.past()) past_.pop_back();
  return torch::cat(taps, 1);
}

}  // namespace attn
