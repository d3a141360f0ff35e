#include "model/recurrent/layers.h"

#include <cmath>
#include <limits>

namespace attn {

RecurrentAttentionLayerImpl::RecurrentAttentionLayerImpl(const RecurrentConfig& config)
    : ObservableAttention(AttentionKind::cross), form_(config.attention) {
  const auto linear = [](int64_t in, int64_t out) {
    return Linear(torch::nn::LinearOptions(in, out).bias(false));
  };
  query = register_module("query", linear(config.hidden, config.d_attention));
  key = register_module("key", linear(config.memory_width(), config.d_attention));
  if (form_ == RecurrentAttention::additive) {
    score_weight = register_parameter("score_weight", torch::empty({config.d_attention}));
    const double bound = 1 / std::sqrt(static_cast<double>(config.d_attention));
    torch::nn::init::uniform_(score_weight, -bound, bound);
  }
}

RecurrentAttentionLayerImpl::Memory RecurrentAttentionLayerImpl::project(
    const torch::Tensor& memory_NC, const Segments& memory) {
  return {memory.pad(key(memory_NC)), memory.pad(memory_NC), ~memory.mask()};
}

torch::Tensor RecurrentAttentionLayerImpl::forward(const torch::Tensor& queries_BLH,
                                                   const Memory& memory) {
  const Attended all = attend(queries_BLH, memory);
  observe(all);
  return all.contexts_BLC;
}

void RecurrentAttentionLayerImpl::observe(const Attended& all) const {
  if (observer) observer({all.weights_BLM.unsqueeze(1), all.contexts_BLC.unsqueeze(1)});
}

RecurrentAttentionLayerImpl::Attended RecurrentAttentionLayerImpl::attend(
    const torch::Tensor& queries_BLH, const Memory& memory) {
  const auto batch = queries_BLH.size(0), length = queries_BLH.size(1);
  const torch::Tensor q_BLA = query(queries_BLH.flatten(0, 1)).view({batch, length, -1});
  torch::Tensor scores_BLM;
  switch (form_) {
    case RecurrentAttention::additive:
      scores_BLM =
          torch::matmul((q_BLA.unsqueeze(2) + memory.keys_BMA.unsqueeze(1)).tanh(), score_weight);
      break;
    case RecurrentAttention::dot:
      scores_BLM = q_BLA.bmm(memory.keys_BMA.transpose(1, 2));
      break;
  }
  scores_BLM = scores_BLM.masked_fill(memory.padding_BM.unsqueeze(1),
                                      -std::numeric_limits<float>::infinity());
  const torch::Tensor weights_BLM = scores_BLM.softmax(-1);
  return {weights_BLM, weights_BLM.bmm(memory.values_BMC)};
}

}  // namespace attn
