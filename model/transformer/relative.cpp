#include "model/transformer/relative.h"

#include <cmath>

#include "model/transformer/position.h"

namespace attn {
namespace {

// The row of each query's and key's clipped distance, [B, H, L, M] int64; `rows`: [B, H, L, …].
torch::Tensor rows_of_distances(const torch::Tensor& rows, int64_t keys) {
  // Formula relative_positions: fast paths attention, packed_search.
  const torch::Tensor distances_LM = distances(rows.size(2), keys, rows.device());
  return (distances_LM.clamp(-kRelativeClip, kRelativeClip) + kRelativeClip)
      .expand({rows.size(0), rows.size(1), rows.size(2), keys});
  // End of formula.
}

}  // namespace

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

torch::Tensor RelativePositionsImpl::scores(const torch::Tensor& queries_BHLK, int64_t keys) const {
  // Formula relative_positions: fast paths attention, packed_search.
  const torch::Tensor of_distance = queries_BHLK.matmul(key_weight.transpose(1, 2));
  return of_distance.gather(3, rows_of_distances(queries_BHLK, keys));
  // End of formula.
}

torch::Tensor RelativePositionsImpl::values(const torch::Tensor& weights_BHLM) const {
  // Formula relative_positions: fast paths attention, packed_search.
  std::vector<int64_t> shape = weights_BHLM.sizes().vec();
  shape[3] = kRelativeDistances;
  return torch::zeros(shape, weights_BHLM.options())
      .scatter_add(3, rows_of_distances(weights_BHLM, weights_BHLM.size(3)), weights_BHLM)
      .matmul(value_weight);
  // End of formula.
}

RelativeVectors RelativePositionsImpl::vectors() const {
  return {key_weight.transpose(0, 1).flatten(1), value_weight.transpose(0, 1).flatten(1)};
}

}  // namespace attn
