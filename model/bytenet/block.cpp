#include "model/bytenet/block.h"

namespace attn {

ByteNetBlockImpl::ByteNetBlockImpl(const ByteNetConfig& config, int64_t dilation, bool causal)
    : shape_{.kernel = config.kernel, .dilation = dilation, .causal = causal} {
  const auto norm = [&](const char* name, int64_t width) {
    return register_module(name, NormLayer(NormKind::layer, width));
  };
  const int64_t hidden = config.hidden;
  narrow_norm = norm("narrow_norm", config.d_model);
  narrow = register_module("narrow", Linear(config.d_model, hidden));
  convolution_norm = norm("convolution_norm", hidden);
  convolution = register_module("convolution", Linear(config.kernel * hidden, hidden));
  widen_norm = norm("widen_norm", hidden);
  widen = register_module("widen", Linear(hidden, config.d_model));
  dropout = register_module("dropout", Dropout(config.dropout));
}

torch::Tensor ByteNetBlockImpl::narrowed(const torch::Tensor& x) {
  return convolution_norm(narrow(narrow_norm(x).relu())).relu();
}

torch::Tensor ByteNetBlockImpl::widened(const torch::Tensor& x, const torch::Tensor& window) {
  return x + dropout(widen(widen_norm(convolution(window)).relu()));
}

torch::Tensor ByteNetBlockImpl::forward(const torch::Tensor& x_ND, const Segments& rows) {
  // Formula bytenet_block: fast path step.
  return widened(x_ND, shifted_rows(narrowed(x_ND), rows, shape_));
  // End of formula.
}

torch::Tensor ByteNetBlockImpl::step(const torch::Tensor& x_RD, StepInputs& inputs,
                                     const StepAncestors& ancestors) {
  return widened(x_RD, inputs.window(narrowed(x_RD), ancestors, shape_));
}

}  // namespace attn
