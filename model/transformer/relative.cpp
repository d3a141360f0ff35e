#include "model/transformer/relative.h"

#include <cmath>

namespace attn {
namespace {

torch::Tensor expanded(const torch::Tensor& index_LM, const torch::Tensor& like_BHLx) {
  return index_LM.expand(
      {like_BHLx.size(0), like_BHLx.size(1), index_LM.size(0), index_LM.size(1)});
}

}  // namespace

torch::Tensor relative_index(int64_t first, int64_t queries, int64_t keys, torch::Device device) {
  // Formula relative_positions: fast path kernels/ops/cpu_attention.cpp.
  const auto whole = torch::TensorOptions(device).dtype(torch::kInt64);
  const torch::Tensor distance = torch::arange(keys, whole).unsqueeze(0) -
                                 torch::arange(first, first + queries, whole).unsqueeze(1);
  return distance.clamp(-kRelativeClip, kRelativeClip) + kRelativeClip;
  // End of formula.
}

RelativePositionsImpl::RelativePositionsImpl(const TransformerConfig& config)
    : width_ratio_(config.width_ratio()) {
  key_weight = register_parameter(
      "key_weight", torch::empty({config.heads, kRelativeDistances, config.key_width()}));
  value_weight = register_parameter(
      "value_weight", torch::empty({config.heads, kRelativeDistances, config.value_width()}));
}

void RelativePositionsImpl::reset_parameters() {
  const torch::NoGradGuard no_grad;
  for (auto* weight : {&key_weight, &value_weight}) {
    const double width = static_cast<double>(weight->size(2)) / width_ratio_;
    weight->normal_(0.0, std::pow(width, -0.5));
  }
}

torch::Tensor RelativePositionsImpl::scores(const torch::Tensor& queries_BHLK,
                                            const torch::Tensor& index_LM) const {
  // Formula relative_positions: fast path kernels/ops/cpu_attention.cpp.
  const torch::Tensor of_distance = queries_BHLK.matmul(key_weight.transpose(1, 2));
  return of_distance.gather(3, expanded(index_LM, queries_BHLK));
  // End of formula.
}

torch::Tensor RelativePositionsImpl::values(const torch::Tensor& weights_BHLM,
                                            const torch::Tensor& index_LM) const {
  // Formula relative_positions: fast path kernels/ops/cpu_attention.cpp.
  std::vector<int64_t> shape = weights_BHLM.sizes().vec();
  shape[3] = kRelativeDistances;
  return torch::zeros(shape, weights_BHLM.options())
      .scatter_add(3, expanded(index_LM, weights_BHLM), weights_BHLM)
      .matmul(value_weight);
  // End of formula.
}

RelativeVectors RelativePositionsImpl::vectors() const {
  return {key_weight.transpose(0, 1).flatten(1), value_weight.transpose(0, 1).flatten(1)};
}

}  // namespace attn
