// Fast path dot_attention: dot_attention e736f5b9
// Fast path dot_attention: masked_softmax e266e7e4
#include "model/convolutional/layers.h"

#include <cmath>

#include "kernels/compute_scope.h"
#include "kernels/ops/attention.h"
#include "kernels/ops/linear.h"
#include "model/layers/masked_softmax.h"

namespace attn {
namespace {

const double kHalfRoot = std::sqrt(0.5);

// Without dropout or gates behind a layer, so that its outputs have the variance of its inputs.
WeightNormLinear plain_linear(int64_t in, int64_t out) {
  return WeightNormLinear(in, out, std::pow(static_cast<double>(in), -0.5));
}

}  // namespace

WeightNormLinearImpl::WeightNormLinearImpl(int64_t inputs, int64_t outputs, double deviation)
    : deviation_(deviation) {
  direction = register_parameter("direction", torch::empty({outputs, inputs}));
  length = register_parameter("length", torch::empty({outputs}));
  bias = register_parameter("bias", torch::empty({outputs}));
}

void WeightNormLinearImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  direction.normal_(0.0, deviation_);
  length.copy_(direction.norm(2, 1));
  bias.zero_();
}

torch::Tensor WeightNormLinearImpl::forward(const torch::Tensor& x_NI) {
  return torch::addcmul(bias, linear(x_NI, {direction, {}}), length / direction.norm(2, 1));
}

torch::Tensor scaled_sum(const torch::Tensor& a, const torch::Tensor& b) {
  return (a + b) * kHalfRoot;
}

GatedConvolutionImpl::GatedConvolutionImpl(const ConvolutionLayerShape& shape, bool causal,
                                           double probability)
    : shape_{.kernel = shape.kernel, .causal = causal} {
  dropout = register_module("dropout", Dropout(probability));
  const int64_t inputs = shape.kernel * shape.inputs;
  // Appendix A: a gate halves the standard deviation, dropout divides the variance by 1 - p.
  const double deviation = std::sqrt(4 * (1 - probability) / static_cast<double>(inputs));
  product = register_module("product", WeightNormLinear(inputs, 2 * shape.width, deviation));
  if (shape.inputs != shape.width) {
    projection = register_module("projection", plain_linear(shape.inputs, shape.width));
  }
}

torch::Tensor GatedConvolutionImpl::gated(const torch::Tensor& window) {
  return torch::glu(product(window), 1);
}

torch::Tensor GatedConvolutionImpl::forward(const torch::Tensor& x_ND, const Segments& rows) {
  // Formula gated_convolution: fast path convolutional_step.
  return gated(shifted_rows(dropout(x_ND), rows, shape_));
  // End of formula.
}

torch::Tensor GatedConvolutionImpl::step(const torch::Tensor& x_RD, StepInputs& inputs,
                                         const StepAncestors& ancestors) {
  return gated(inputs.window(x_RD, ancestors, shape_));
}

torch::Tensor GatedConvolutionImpl::residual(const torch::Tensor& x_ND) {
  return projection ? projection(x_ND) : x_ND;
}

ConvolutionalAttentionImpl::ConvolutionalAttentionImpl(int64_t width, int64_t d_model)
    : ObservableAttention(AttentionKind::cross) {
  in = register_module("in", plain_linear(width, d_model));
  out = register_module("out", plain_linear(d_model, width));
}

torch::Tensor ConvolutionalAttentionImpl::forward(const torch::Tensor& states_NC,
                                                  const torch::Tensor& embedded_ND,
                                                  const Segments& rows,
                                                  const ConvolutionalMemory& memory) {
  return scaled_sum(out(contexts(in(states_NC) + embedded_ND, rows, memory)), states_NC);
}

torch::Tensor ConvolutionalAttentionImpl::contexts(const torch::Tensor& sums_ND,
                                                   const Segments& rows,
                                                   const ConvolutionalMemory& memory) const {
  const Segments& source = memory.segments;
  if (!observer && ComputeScope::takes(FastPath::dot_attention)) {
    // One head without the factor 1/√d_k of packed_attention.
    const double scale = kHalfRoot * std::sqrt(static_cast<double>(sums_ND.size(1)));
    return packed_attention(sums_ND * scale, memory.keys_MD, memory.values_MD,
                            {.heads = 1,
                             .query_offsets = rows.offsets(),
                             .key_offsets = source.offsets(),
                             .query_rows = rows.device_rows(),
                             .key_rows = source.device_rows()});
  }
  // Formula dot_attention: fast path dot_attention.
  const torch::Tensor queries_BLD = rows.pad(sums_ND * kHalfRoot);
  const torch::Tensor scores_BLM = queries_BLD.bmm(source.pad(memory.keys_MD).transpose(1, 2));
  const torch::Tensor weights_BLM = masked_softmax(scores_BLM, source.mask().unsqueeze(1));
  const torch::Tensor contexts_BLD = weights_BLM.bmm(source.pad(memory.values_MD));
  if (observer) observer({weights_BLM.unsqueeze(1), contexts_BLD.unsqueeze(1)});
  return rows.unpad(contexts_BLD);
  // End of formula.
}

}  // namespace attn
