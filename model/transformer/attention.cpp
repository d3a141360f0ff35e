#include "model/transformer/attention.h"

#include <cmath>

#include "kernels/compute_scope.h"
#include "kernels/ops/attention.h"
#include "kernels/ops/dropout.h"
#include "model/layers/masked_softmax.h"
#include "model/transformer/fast_options.h"

namespace attn {
namespace {

// Repeats each of fewer heads for its group: [B, H', M, K] to [B, H, M, K].
torch::Tensor repeated(const torch::Tensor& heads_BHMK, int64_t heads) {
  // Formula attention: fast paths attention, packed_search.
  const int64_t own = heads_BHMK.size(1);
  return own == heads ? heads_BHMK : heads_BHMK.repeat_interleave(heads / own, 1);
  // End of formula.
}

// [N, H·K] rows to the padded [B, H, L, K].
torch::Tensor split_heads(const torch::Tensor& rows, const Segments& segments, int64_t heads) {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  return segments.pad(rows).unflatten(2, {heads, -1}).transpose(1, 2);
  // End of formula.
}

// [B, H, L, K] back to [N, H·K].
torch::Tensor join_heads(const torch::Tensor& heads_BHLK, const Segments& segments) {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  return segments.unpad(heads_BHLK.transpose(1, 2).flatten(2));
  // End of formula.
}

Linear projection(int64_t in, int64_t out, bool bias) {
  return Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

}  // namespace

torch::Tensor AttentionSpec::mask() const {
  // Formula visible_keys: fast paths attention, packed_search, transformer_step.
  const torch::Tensor mask =
      keys.mask().unsqueeze(1).unsqueeze(2) & queries.mask().unsqueeze(1).unsqueeze(3);
  if (!causal && window == 0) return mask;
  return mask & visible_keys(queries.longest(), keys.longest(), causal, window, mask.device());
  // End of formula.
}

AttentionResult scaled_dot_product_attention(
    const torch::Tensor& queries_BHLK, const torch::Tensor& keys_BHMK,
    const torch::Tensor& values_BHMK, const torch::Tensor& mask_B1LM, const torch::Tensor& bias_HLM,
    const torch::Tensor& dropout_BHLM, const RelativePositions& relative) {
  // Formula attention: fast paths attention, packed_search.
  const double d_k = static_cast<double>(queries_BHLK.size(3));
  const int64_t heads = queries_BHLK.size(1);
  torch::Tensor scores_BHLM = queries_BHLK.matmul(repeated(keys_BHMK, heads).transpose(2, 3));
  if (relative) scores_BHLM = scores_BHLM + relative->scores(queries_BHLK, keys_BHMK.size(2));
  scores_BHLM = scores_BHLM / std::sqrt(d_k);
  if (bias_HLM.defined()) scores_BHLM = scores_BHLM + bias_HLM;
  const torch::Tensor weights_BHLM = masked_softmax(scores_BHLM, mask_B1LM);
  const torch::Tensor kept_BHLM =
      dropout_BHLM.defined() ? weights_BHLM * dropout_BHLM : weights_BHLM;
  torch::Tensor out_BHLK = kept_BHLM.matmul(repeated(values_BHMK, heads));
  if (relative) out_BHLK = out_BHLK + relative->values(kept_BHLM);
  return {out_BHLK, weights_BHLM};
  // End of formula.
}

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const TransformerConfig& config, AttentionKind kind)
    : ObservableAttention(kind),
      heads_(config.heads),
      key_heads_(config.key_heads()),
      // µP divides scores by d_k instead of √d_k (github.com/microsoft/mup, README), times a
      // constant that makes no difference at the base's width, when d_k grows with d_model. The
      // factor of l2 is learned.
      query_scale_(config.qk_norm == QkNorm::l2 ? 1.0 : 1.0 / std::sqrt(config.width_ratio())),
      on_kernels_(option_as_read(FastPath::attention, config).empty()) {
  const auto projected = [&](const char* name, int64_t in, int64_t out) {
    return register_module(name, projection(in, out, config.bias));
  };
  query = projected("query", config.d_model, heads_ * config.key_width());
  key = projected("key", config.d_model, key_heads_ * config.key_width());
  value = projected("value", config.d_model, key_heads_ * config.value_width());
  output = projected("output", heads_ * config.value_width(), config.d_model);
  weights_dropout = register_module("weights_dropout", Dropout(config.attention_dropout));
  if (config.qk_norm != QkNorm::none) qk_norm = register_module("qk_norm", QueryKeyNorm(config));
  if (kind != AttentionKind::cross && config.position == Position::relative) {
    relative = register_module("relative", RelativePositions(config));
  }
}

torch::Tensor MultiHeadAttentionImpl::prepared_queries(const torch::Tensor& projected,
                                                       const Rotation& rotation) const {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  torch::Tensor queries = qk_norm ? qk_norm->queries(projected) : projected;
  if (query_scale_ != 1.0) queries = queries * query_scale_;
  return rotate(queries, rotation);
  // End of formula.
}

torch::Tensor MultiHeadAttentionImpl::prepared_keys(const torch::Tensor& projected,
                                                    const Rotation& rotation) const {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  return rotate(qk_norm ? qk_norm->keys(projected) : projected, rotation);
  // End of formula.
}

bool MultiHeadAttentionImpl::runs_on_kernels(const PositionInScores& position) const {
  const bool takes_bias = !position.bias_HP.defined() || on_cpu_path(position.bias_HP);
  const bool takes_relative = !relative || on_cpu_path(relative->key_weight);
  return on_kernels_ && takes_bias && takes_relative && ComputeScope::takes(FastPath::attention);
}

RelativeVectors MultiHeadAttentionImpl::relative_vectors() const {
  return relative ? relative->vectors() : RelativeVectors();
}

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& queries_ND,
                                              const torch::Tensor& memory_ND,
                                              const AttentionSpec& spec) {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  const Rotation& rotation = spec.position.rotation;
  if (!memory_ND.is_same(queries_ND)) {
    return attend(queries_ND, project(memory_ND, rotation), spec);
  }
  const auto projected = project_all(queries_ND, {query, key, value});
  return attend_prepared(prepared_queries(projected[0], rotation),
                         {prepared_keys(projected[1], rotation), projected[2]}, spec);
  // End of formula.
}

KeysValues MultiHeadAttentionImpl::project(const torch::Tensor& memory_ND,
                                           const Rotation& rotation) {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  const auto projected = project_all(memory_ND, {key, value});
  return {prepared_keys(projected[0], rotation), projected[1]};
  // End of formula.
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& queries_ND,
                                             const KeysValues& memory, const AttentionSpec& spec) {
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  return attend_prepared(prepared_queries(query(queries_ND), spec.position.rotation), memory, spec);
  // End of formula.
}

torch::Tensor MultiHeadAttentionImpl::attend_prepared(const torch::Tensor& queries,
                                                      const KeysValues& memory,
                                                      const AttentionSpec& spec) {
  if (runs_on_kernels(spec.position) && !observer) {
    return output(packed_attention(queries, memory.keys, memory.values,
                                   {.heads = heads_,
                                    .kv_heads = key_heads_,
                                    .query_offsets = spec.queries.offsets(),
                                    .key_offsets = spec.keys.offsets(),
                                    .causal = spec.causal,
                                    .window = spec.window,
                                    .dropout = weights_dropout->probability(),
                                    .bias_HP = spec.position.bias_HP,
                                    .relative = relative_vectors(),
                                    .query_rows = spec.queries.device_rows(),
                                    .key_rows = spec.keys.device_rows()}));
  }
  // Formula multi_head_attention: fast paths attention, packed_search, transformer_step.
  torch::Tensor bias_HLM, dropout_BHLM;
  if (spec.position.bias_HP.defined()) {
    bias_HLM = bias_of_scores(spec.position.bias_HP, spec.queries.longest(), spec.keys.longest());
  }
  if (const double p = weights_dropout->probability(); p > 0.0) {
    dropout_BHLM = attention_dropout_factors(spec.queries.offsets(), spec.keys.offsets(), heads_, p,
                                             queries.device());
  }
  const AttentionResult attended = scaled_dot_product_attention(
      split_heads(queries, spec.queries, heads_), split_heads(memory.keys, spec.keys, key_heads_),
      split_heads(memory.values, spec.keys, key_heads_), spec.mask(), bias_HLM, dropout_BHLM,
      relative);
  if (observer) observer({attended.weights, attended.output});
  return output(join_heads(attended.output, spec.queries));
  // End of formula.
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& queries_RD,
                                             std::span<const KeysValues> cache,
                                             const StepAncestors& ancestors,
                                             const AttentionSpec& spec) {
  const torch::Tensor queries = prepared_queries(query(queries_RD), spec.position.rotation);
  const int64_t visible = spec.keys.longest();
  std::vector<torch::Tensor> keys, values;
  std::vector<int64_t> offsets(1, 0);  // of the rows of each position among those of all
  for (const KeysValues& step : cache.last(static_cast<size_t>(visible))) {
    keys.push_back(step.keys);
    values.push_back(step.values);
    offsets.push_back(offsets.back() + step.keys.size(0));
  }
  const std::vector<const int32_t*> past = ancestors.last(visible);
  const bool has_graph = torch::GradMode::is_enabled() && queries.requires_grad();
  if (runs_on_kernels(spec.position) && runs_on_cpu_kernels(queries) && !has_graph) {
    return output(step_attention(queries, keys, values, past, heads_, key_heads_,
                                 spec.position.bias_HP.defined()
                                     ? bias_of_scores(spec.position.bias_HP, 1, visible).squeeze(1)
                                     : torch::Tensor(),
                                 relative_vectors()));
  }
  // Every row's prefix as a sentence of its own, by as many operators whatever its length: on a GPU
  // their launches decide.
  std::vector<int64_t> prefixes;
  for (const int32_t* rows : past) {
    for (int64_t t = 0; t < visible; ++t) prefixes.push_back(offsets[t] + rows[t]);
  }
  const torch::Tensor prefixes_N = int64_tensor(prefixes, queries.device());
  return attend_prepared(queries,
                         {torch::cat(keys).index_select(0, prefixes_N),
                          torch::cat(values).index_select(0, prefixes_N)},
                         spec);
}

}  // namespace attn
