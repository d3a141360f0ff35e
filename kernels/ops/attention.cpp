#include "kernels/ops/attention.h"

#include <ATen/Parallel.h>
#include <ATen/ops/_efficient_attention_forward.h>

#include <algorithm>
#include <numeric>

#include "kernels/compute_scope.h"
#include "kernels/ops/attention_options.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/padded_layout.h"
#include "kernels/ops/relative_rows.h"

namespace attn {
namespace {

// `minimum` is the smallest `longest`, so that attention has a key.
PaddedLayout padded_layout(std::span<const int64_t> offsets, int64_t minimum,
                           const torch::Tensor& known_slots, torch::Device device) {
  PaddedLayout layout{static_cast<int64_t>(offsets.size()) - 1,
                      std::max(longest_of(offsets), minimum), known_slots};
  if (known_slots.defined()) return layout;
  const torch::Tensor slots = torch::empty({offsets.back()}, torch::kInt64);
  int64_t* slot = slots.data_ptr<int64_t>();
  for (int64_t b = 0; b < layout.sentences; ++b) {
    std::iota(slot + offsets[b], slot + offsets[b + 1], b * layout.longest);
  }
  layout.slots = slots.to(device);
  return layout;
}

// Rows [M, heads · K] as [M, heads · group · K]: each head `group` times in a row.
torch::Tensor repeated_heads(const torch::Tensor& rows, int64_t heads, int64_t group) {
  if (group == 1) return rows;
  return rows.unflatten(1, {heads, 1, -1})
      .expand({-1, -1, group, -1})
      .reshape({rows.size(0), rows.size(1) * group});
}

bool has_empty_sentence(std::span<const int64_t> offsets) {
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

bool requires_gradient(const torch::Tensor& queries, const torch::Tensor& keys,
                       const torch::Tensor& values) {
  return torch::GradMode::is_enabled() &&
         (queries.requires_grad() || keys.requires_grad() || values.requires_grad());
}

// Whether LibTorch's kernel supports ragged lengths here. It loads 16 bytes at a time and sums over
// at least one key. If lengths differ, its backward draws a different dropout mask than its forward
// (up to LibTorch 2.13: forward counts random numbers with an unset number of keys).
bool supports_ragged_lengths(const torch::Tensor& queries, const torch::Tensor& keys,
                             const torch::Tensor& values, const PackedAttention& options) {
  return queries.is_cuda() && options.query_rows.starts.defined() &&
         options.key_rows.starts.defined() && options.window == 0 && options.dropout == 0.0 &&
         queries.size(1) / options.heads % 8 == 0 && values.size(1) / options.heads % 8 == 0 &&
         !has_empty_sentence(options.key_offsets) &&
         !(requires_gradient(queries, keys, values) && has_empty_sentence(options.query_offsets));
}

torch::Tensor ragged_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                               const torch::Tensor& values, const PackedAttention& options) {
  // The kernel reads all three as the queries' type; a norm of queries and keys has fp32 results.
  const torch::ScalarType type =
      ComputeScope::autocast_type(queries.device()).value_or(values.scalar_type());
  const auto heads = [&](const torch::Tensor& given) {  // one batch of all rows
    const torch::Tensor rows = given.to(type);
    // Columns of a wider tensor (joint_linear) need no copy if every row begins at 16 bytes.
    const bool aligned =
        rows.stride(1) == 1 && rows.stride(0) % 8 == 0 && rows.storage_offset() % 8 == 0;
    return (aligned ? rows : rows.contiguous())
        .view({1, rows.size(0), options.heads, rows.size(1) / options.heads});
  };
  constexpr int64_t kWhole = 0, kCausal = 1;  // the operator's custom_mask_type
  const torch::Tensor out = std::get<0>(at::_efficient_attention_forward(
      heads(queries), heads(keys), heads(values), /*bias=*/std::nullopt, options.query_rows.starts,
      options.key_rows.starts, longest_of(options.query_offsets), longest_of(options.key_offsets),
      /*dropout_p=*/0.0, options.causal ? kCausal : kWhole,
      /*compute_log_sumexp=*/requires_gradient(queries, keys, values)));
  return out.view({queries.size(0), values.size(1)});
}

void check_shapes(const torch::Tensor& queries, const torch::Tensor& keys,
                  const torch::Tensor& values, const PackedAttention& options) {
  const int64_t heads = options.heads, kv_heads = options.kv_heads;
  TORCH_CHECK(options.query_offsets.size() == options.key_offsets.size() &&
                  queries.size(0) == options.query_offsets.back() &&
                  keys.size(0) == options.key_offsets.back() && values.size(0) == keys.size(0) &&
                  heads % kv_heads == 0 && queries.size(1) % heads == 0 &&
                  keys.size(1) * heads == queries.size(1) * kv_heads &&
                  values.size(1) % kv_heads == 0,
              "attention: queries ", queries.sizes(), ", keys ", keys.sizes(), ", values ",
              values.sizes(), ", ", heads, " heads, ", kv_heads, " of keys");
}

// `key_width` and `value_width` are those of all query heads together.
void check_relative(const RelativeVectors& relative, int64_t key_width, int64_t value_width) {
  const auto& [keys, values] = relative;
  TORCH_CHECK(on_cpu_path(keys) && values.defined() && on_cpu_path(values),
              "attention: relative positions are supported on a CPU only");
  TORCH_CHECK(keys.dim() == 2 && values.dim() == 2 && keys.size(0) % 2 == 1 &&
                  values.size(0) == keys.size(0) && keys.size(1) == key_width &&
                  values.size(1) == value_width,
              "attention: relative positions ", keys.sizes(), " and ", values.sizes(),
              ", heads have ", key_width, " and ", value_width, " columns");
}

}  // namespace

torch::Tensor visible_keys(int64_t queries, int64_t keys, bool causal, int64_t window,
                           torch::Device device) {
  // Formula visible_keys: fast paths attention, packed_search, transformer_step.
  torch::Tensor visible =
      torch::ones({queries, keys}, torch::TensorOptions(device).dtype(torch::kBool));
  if (causal) visible = visible.tril();
  if (window == 0) return visible;
  const int64_t before = causal ? window - 1 : window / 2;
  return visible.triu(-before).tril(before);
  // End of formula.
}

torch::Tensor padded_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                               const torch::Tensor& values, const PackedAttention& options) {
  TORCH_CHECK(!options.bias_HP.defined() && !options.relative.defined() &&
                  (options.kv_heads == 0 || options.kv_heads == options.heads),
              "padded_attention: no bias, no relative positions and as many key-value heads as "
              "heads");
  const PaddedLayout of_queries =
      padded_layout(options.query_offsets, 0, options.query_rows.slots, queries.device());
  const PaddedLayout of_keys =
      padded_layout(options.key_offsets, 1, options.key_rows.slots, keys.device());
  const auto heads = [&](const PaddedLayout& layout, const torch::Tensor& rows) {
    return layout.pad(rows).unflatten(2, {options.heads, -1}).transpose(1, 2);
  };
  torch::Tensor allowed = of_keys.mask().unsqueeze(1).unsqueeze(2);
  if (options.causal || options.window > 0) {
    allowed = allowed & visible_keys(of_queries.longest, of_keys.longest, options.causal,
                                     options.window, allowed.device());
  }
  // A padding query may attend to no key; it gets its first key, and its output is dropped below.
  const torch::Tensor none = ~allowed.any(-1, true);
  torch::Tensor first = torch::zeros({1, 1, 1, of_keys.longest}, allowed.options());
  first.select(-1, 0).fill_(true);
  // cuDNN's makes a plan for each shape, and is not deterministic.
  at::globalContext().setSDPUseCuDNN(false);
  const torch::Tensor out = torch::scaled_dot_product_attention(
      heads(of_queries, queries), heads(of_keys, keys), heads(of_keys, values),
      allowed | (none & first), options.dropout);
  return of_queries.unpad(out.masked_fill(none, 0.0).transpose(1, 2).flatten(2));
}

torch::Tensor packed_attention(const torch::Tensor& queries, const torch::Tensor& own_keys,
                               const torch::Tensor& own_values, const PackedAttention& given) {
  PackedAttention options = given;
  if (options.kv_heads == 0) options.kv_heads = options.heads;
  check_shapes(queries, own_keys, own_values, options);
  TORCH_CHECK((options.window == 0 && !options.bias_HP.defined() && !options.relative.defined()) ||
                  std::ranges::equal(options.query_offsets, options.key_offsets),
              "attention: a window, a bias and relative positions are for self-attention");
  if (options.bias_HP.defined()) {
    const torch::Tensor& bias = options.bias_HP;
    const int64_t longest = longest_of(options.key_offsets);
    TORCH_CHECK(on_cpu_path(queries), "attention: a bias is supported on a CPU only");
    TORCH_CHECK(bias.dim() == 2 && bias.size(0) == options.heads && bias.size(1) % 2 == 1 &&
                    bias.size(1) + 1 >= 2 * longest,
                "attention: bias ", bias.sizes(), ", ", options.heads, " heads, longest sentence ",
                longest);
  }
  if (options.relative.defined()) {
    check_relative(options.relative, queries.size(1),
                   own_values.size(1) / options.kv_heads * options.heads);
  }
  if (on_cpu_path(queries)) return cpu_attention(queries, own_keys, own_values, options);
  const int64_t group = options.heads / options.kv_heads;
  const torch::Tensor keys = repeated_heads(own_keys, options.kv_heads, group);
  const torch::Tensor values = repeated_heads(own_values, options.kv_heads, group);
  options.kv_heads = options.heads;
  if (supports_ragged_lengths(queries, keys, values, options)) {
    return ragged_attention(queries, keys, values, options);
  }
  return padded_attention(queries, keys, values, options);
}

torch::Tensor step_attention(const torch::Tensor& queries_R, std::span<const torch::Tensor> keys,
                             std::span<const torch::Tensor> values,
                             std::span<const int32_t* const> past, int64_t heads, int64_t kv_heads,
                             const torch::Tensor& bias_HT, const RelativeVectors& relative) {
  const auto steps = static_cast<int64_t>(keys.size());
  const int64_t rows = queries_R.size(0);
  std::vector<torch::Tensor> held;
  std::vector<const float*> key_steps, value_steps;
  const auto floats = [&](const torch::Tensor& x) {
    held.push_back(x.to(torch::kFloat32).contiguous());
    return held.back().const_data_ptr<float>();
  };
  for (int64_t t = 0; t < steps; ++t) {
    key_steps.push_back(floats(keys[t]));
    value_steps.push_back(floats(values[t]));
  }
  TORCH_CHECK(std::ssize(past) == rows, "step_attention: ", past.size(), " pasts, ", rows, " rows");
  TORCH_CHECK(!bias_HT.defined() || (bias_HT.size(0) == heads && bias_HT.size(1) == steps),
              "step_attention: bias ", bias_HT.sizes(), ", ", heads, " heads, ", steps,
              " positions");
  const int64_t d_k = queries_R.size(1) / heads, d_v = values[0].size(1) / kv_heads;
  RelativeVectors vectors;
  if (relative.defined()) {
    check_relative(relative, heads * d_k, heads * d_v);
    vectors = {relative.keys.contiguous(), relative.values.contiguous()};
  }
  const torch::Tensor out = torch::empty({rows, heads * d_v}, torch::kFloat32);
  step_attention({.query = floats(queries_R),
                  .query_stride = heads * d_k,
                  .count = rows,
                  .keys = key_steps.data(),
                  .values = value_steps.data(),
                  .rows = past.data(),
                  .steps = steps,
                  .key_stride = kv_heads * d_k,
                  .value_stride = kv_heads * d_v,
                  .heads = heads,
                  .kv_heads = kv_heads,
                  .d_k = d_k,
                  .d_v = d_v,
                  .bias = bias_HT.defined() ? floats(bias_HT) : nullptr,
                  .bias_stride = steps,
                  .relative = relative_rows(vectors, steps - 1)},
                 out.data_ptr<float>());
  return out;
}

void step_attention(const cpu::CachedRows& step, float* out) {
  constexpr int64_t kRowsAThread = 8;
  at::parallel_for(0, step.count, kRowsAThread, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(static_cast<size_t>(
        cpu::kernels().step_attention_scratch(step.heads, step.steps, step.relative.clip)));
    cpu::CachedRows part = step;
    part.query += begin * step.query_stride;
    part.rows += begin;
    part.count = end - begin;
    cpu::kernels().step_attention(part, out + begin * step.heads * step.d_v, scratch.data());
  });
}

}  // namespace attn
