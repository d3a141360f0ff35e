// Layers of ConvS2S (Gehring et al. 2017, section 3): weight-normalized linear layers, gated
// convolutions with residual connections, and attention in every decoder layer.
#pragma once

#include "kernels/libtorch.h"
#include "model/convolutional/config.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/layer.h"
#include "model/observable_attention.h"
#include "model/segments.h"

namespace attn {

/// Weight normalization (Salimans and Kingma 2016): rows [N, inputs] to [N, outputs]: x Wᵀ + b,
/// where row o of W is length[o] · direction[o] / ‖direction[o]‖. Multiplies by the parameter
/// `direction`, so that the product may run on bf16 tiles, and scales the columns of the result
/// afterwards.
class WeightNormLinearImpl : public torch::nn::Module, public Layer {
 public:
  /// Initially W is normal with this standard deviation, and b is zero.
  WeightNormLinearImpl(int64_t inputs, int64_t outputs, double deviation);
  void reset_parameters() override;

  torch::Tensor forward(const torch::Tensor& x_NI);

  torch::Tensor direction;  ///< [outputs, inputs]
  torch::Tensor length;     ///< [outputs]
  torch::Tensor bias;       ///< [outputs]

 private:
  double deviation_;
};
TORCH_MODULE(WeightNormLinear);

/// (a + b) √.5, which keeps the variance of the terms.
torch::Tensor scaled_sum(const torch::Tensor& a, const torch::Tensor& b);

/// Section 3.2: a convolution to twice the width and a gated linear unit.
class GatedConvolutionImpl : public torch::nn::Module {
 public:
  GatedConvolutionImpl(const ConvolutionLayerShape& shape, bool causal, double dropout);

  /// [N, inputs] to [N, width].
  torch::Tensor forward(const torch::Tensor& x_ND, const Segments& rows);
  /// One decoding step, [R, inputs] to [R, width].
  torch::Tensor step(const torch::Tensor& x_RD, StepInputs& inputs, const StepAncestors& ancestors);
  /// What is added to the output: the input, projected if the widths differ.
  torch::Tensor residual(const torch::Tensor& x_ND);

  Dropout dropout = nullptr;
  WeightNormLinear product = nullptr;     ///< [2 width, kernel · inputs]
  WeightNormLinear projection = nullptr;  ///< null if inputs = width

 private:
  torch::Tensor gated(const torch::Tensor& window);

  ConvolutionShape shape_;
};
TORCH_MODULE(GatedConvolution);

/// The encoder output: keys z and values (z + e) √.5 · √S, of S source positions; √S undoes the
/// shrinking of an average of S vectors.
struct ConvolutionalMemory {
  torch::Tensor keys_MD, values_MD;
  Segments segments;
};

/// Section 3.3: attention of a decoder layer's states over the source.
class ConvolutionalAttentionImpl : public torch::nn::Module, public ObservableAttention {
 public:
  ConvolutionalAttentionImpl(int64_t width, int64_t d_model);

  /// States [N, width] and the embeddings [N, D] of the previous target tokens to (contexts +
  /// states) √.5, [N, width].
  torch::Tensor forward(const torch::Tensor& states_NC, const torch::Tensor& embedded_ND,
                        const Segments& rows, const ConvolutionalMemory& memory);

  WeightNormLinear in = nullptr, out = nullptr;

 private:
  /// The contexts [N, D] of queries √.5 · sums_ND.
  torch::Tensor contexts(const torch::Tensor& sums_ND, const Segments& rows,
                         const ConvolutionalMemory& memory) const;
};
TORCH_MODULE(ConvolutionalAttention);

}  // namespace attn
