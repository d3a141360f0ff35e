#include "model/transformer/attention.h"

#include <array>
#include <cmath>
#include <limits>

#include "kernels/ops/attention.h"

namespace attn {
namespace {

// [N, H·K] rows to the padded [B, H, L, K].
torch::Tensor split_heads(const torch::Tensor& rows, const Segments& segments, int64_t heads) {
  return segments.pad(rows).unflatten(2, {heads, -1}).transpose(1, 2);
}

// [B, H, L, K] back to [N, H·K].
torch::Tensor join_heads(const torch::Tensor& heads_BHLK, const Segments& segments) {
  return segments.unpad(heads_BHLK.transpose(1, 2).flatten(2));
}

Linear projection(int64_t in, int64_t out, bool bias) {
  return Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

}  // namespace

torch::Tensor AttentionSpec::mask() const {
  torch::Tensor mask =
      keys.mask().unsqueeze(1).unsqueeze(2) & queries.mask().unsqueeze(1).unsqueeze(3);
  if (causal) {
    mask = mask & torch::ones({queries.longest(), keys.longest()}, mask.options()).tril();
  }
  if (window > 0) {
    const int64_t before = causal ? window - 1 : window / 2;
    const torch::Tensor all = torch::ones({queries.longest(), keys.longest()}, mask.options());
    mask = mask & all.triu(-before) & all.tril(before);
  }
  return mask;
}

AttentionResult scaled_dot_product_attention(const torch::Tensor& queries_BHLK,
                                             const torch::Tensor& keys_BHMK,
                                             const torch::Tensor& values_BHMK,
                                             const torch::Tensor& mask_B1LM,
                                             const torch::Tensor& bias_HLM, double dropout) {
  const double d_k = static_cast<double>(queries_BHLK.size(3));
  torch::Tensor scores_BHLM = queries_BHLK.matmul(keys_BHMK.transpose(2, 3)) / std::sqrt(d_k);
  if (bias_HLM.defined()) scores_BHLM = scores_BHLM + bias_HLM;
  scores_BHLM = scores_BHLM.masked_fill(~mask_B1LM, -std::numeric_limits<double>::infinity());
  // The softmax of a row of -∞ alone would be NaN: its weights are zero.
  const torch::Tensor some_BxL1 = mask_B1LM.any(-1, /*keepdim=*/true);
  const torch::Tensor weights_BHLM =
      scores_BHLM.masked_fill(~some_BxL1, 0.0).softmax(-1).masked_fill(~some_BxL1, 0.0);
  return {fast_dropout(weights_BHLM, dropout).matmul(values_BHMK), weights_BHLM};
}

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const TransformerConfig& config)
    : heads_(config.heads), path_(config.attention) {
  const int64_t keys = config.heads * config.d_k, values = config.heads * config.d_v;
  query = register_module("query", projection(config.d_model, keys, config.bias));
  key = register_module("key", projection(config.d_model, keys, config.bias));
  value = register_module("value", projection(config.d_model, values, config.bias));
  output = register_module("output", projection(values, config.d_model, config.bias));
  weights_dropout = register_module("weights_dropout", Dropout(config.attention_dropout));
}

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& queries_ND,
                                              const torch::Tensor& memory_ND,
                                              const AttentionSpec& spec) {
  const Rotation& rotation = spec.position.rotation;
  if (!memory_ND.is_same(queries_ND)) {
    return attend(queries_ND, project(memory_ND, rotation), spec);
  }
  const auto projected =
      linear_all(queries_ND, std::array{query->weights(), key->weights(), value->weights()});
  return attend_projected(projected[0], {rotate(projected[1], rotation), projected[2]}, spec);
}

KeysValues MultiHeadAttentionImpl::project(const torch::Tensor& memory_ND,
                                           const Rotation& rotation) {
  const auto projected = linear_all(memory_ND, std::array{key->weights(), value->weights()});
  return {rotate(projected[0], rotation), projected[1]};
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& queries_ND,
                                             const KeysValues& memory, const AttentionSpec& spec) {
  return attend_projected(query(queries_ND), memory, spec);
}

torch::Tensor MultiHeadAttentionImpl::attend_projected(const torch::Tensor& projected,
                                                       const KeysValues& memory,
                                                       const AttentionSpec& spec) {
  const torch::Tensor queries = rotate(projected, spec.position.rotation);
  if (path_ == AttentionPath::kernels && !spec.position.bias_HLM.defined() && !observer) {
    return output(packed_attention(queries, memory.keys, memory.values,
                                   {.heads = heads_,
                                    .query_offsets = spec.queries.offsets(),
                                    .key_offsets = spec.keys.offsets(),
                                    .causal = spec.causal,
                                    .window = spec.window,
                                    .dropout = weights_dropout->probability(),
                                    .query_starts = spec.queries.device_offsets(),
                                    .key_starts = spec.keys.device_offsets()}));
  }
  const AttentionResult attended = reference_attention(queries, memory, spec);
  if (observer) observer({attended.weights, attended.output});
  return output(join_heads(attended.output, spec.queries));
}

torch::Tensor MultiHeadAttentionImpl::attend_to_cache(
    const torch::Tensor& queries_RD, std::span<const KeysValues> cache,
    std::span<const std::vector<int32_t>> backpointers, const PositionInScores& position) {
  const torch::Tensor queries = rotate(query(queries_RD), position.rotation);
  if (path_ == AttentionPath::kernels && !position.bias_HLM.defined() &&
      step_attention_runs_on(queries)) {
    std::vector<torch::Tensor> keys, values;
    for (const auto& step : cache) {
      keys.push_back(step.keys);
      values.push_back(step.values);
    }
    return output(step_attention(queries, keys, values, backpointers, heads_));
  }
  // Gather every row's prefix: R sentences of one query and T keys.
  std::vector<int32_t> past;
  for (const auto& rows : backpointers) past.insert(past.end(), rows.begin(), rows.end());
  const torch::Tensor past_TR =
      sent_tensor<int32_t>(std::span<const int32_t>(past), queries.device())
          .view({static_cast<int64_t>(cache.size()), queries.size(0)});
  std::vector<torch::Tensor> keys, values;
  for (size_t t = 0; t < cache.size(); ++t) {
    const torch::Tensor rows = past_TR[static_cast<int64_t>(t)];
    keys.push_back(cache[t].keys.index_select(0, rows));
    values.push_back(cache[t].values.index_select(0, rows));
  }
  const auto heads = [&](const torch::Tensor& x_RTE) {
    return x_RTE.unflatten(2, {heads_, -1}).transpose(1, 2);
  };
  const torch::Tensor mask =
      torch::ones({1, 1, 1, 1}, torch::TensorOptions(queries.device()).dtype(torch::kBool));
  const torch::Tensor attended_RH1K =
      scaled_dot_product_attention(heads(queries.unsqueeze(1)), heads(torch::stack(keys, 1)),
                                   heads(torch::stack(values, 1)), mask, position.bias_HLM)
          .output;
  return output(attended_RH1K.transpose(1, 2).flatten(1));
}

AttentionResult MultiHeadAttentionImpl::reference_attention(const torch::Tensor& queries,
                                                            const KeysValues& memory,
                                                            const AttentionSpec& spec) {
  return scaled_dot_product_attention(split_heads(queries, spec.queries, heads_),
                                      split_heads(memory.keys, spec.keys, heads_),
                                      split_heads(memory.values, spec.keys, heads_), spec.mask(),
                                      spec.position.bias_HLM, weights_dropout->probability());
}

torch::Tensor MultiHeadAttentionImpl::weights(const torch::Tensor& queries_ND,
                                              const torch::Tensor& memory_ND,
                                              const AttentionSpec& spec) {
  const Rotation& rotation = spec.position.rotation;
  return reference_attention(rotate(query(queries_ND), rotation), project(memory_ND, rotation),
                             spec)
      .weights;
}

}  // namespace attn
