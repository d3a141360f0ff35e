// ByteNet's residual block (Kalchbrenner et al. 2016, section 3.6 and figure 3, left).
#pragma once

#include "kernels/libtorch.h"
#include "model/bytenet/config.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/linear.h"
#include "model/layers/norm.h"
#include "model/segments.h"

namespace attn {

/// x + dropout(F(x)), where F narrows d_model to `hidden`, convolves and widens again; norm and
/// ReLU before each of the three products.
class ByteNetBlockImpl : public torch::nn::Module {
 public:
  ByteNetBlockImpl(const ByteNetConfig& config, int64_t dilation, bool causal);

  /// [N, D] to [N, D].
  torch::Tensor forward(const torch::Tensor& x_ND, const Segments& rows);
  /// One decoding step, [R, D] to [R, D].
  torch::Tensor step(const torch::Tensor& x_RD, StepInputs& inputs, const StepAncestors& ancestors);
  int64_t past() const { return shape_.past(); }

  NormLayer narrow_norm = nullptr, convolution_norm = nullptr, widen_norm = nullptr;
  Linear narrow = nullptr, convolution = nullptr, widen = nullptr;
  Dropout dropout = nullptr;

 private:
  torch::Tensor narrowed(const torch::Tensor& x);
  torch::Tensor widened(const torch::Tensor& x, const torch::Tensor& window);

  ConvolutionShape shape_;
};
TORCH_MODULE(ByteNetBlock);

}  // namespace attn
