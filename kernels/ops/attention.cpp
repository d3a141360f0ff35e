#include "kernels/ops/attention.h"

#include <ATen/Parallel.h>
#include <ATen/ops/_efficient_attention_forward.h>

#include <algorithm>

#include "base/random.h"
#include "kernels/compute_scope.h"
#include "kernels/cpu/instructions.h"
#include "kernels/cpu/tile_attention.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/linear.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The sentence offsets, shared by forward and backward.
struct Layout {
  std::vector<int64_t> query_offsets, key_offsets;
  int64_t heads = 0, kv_heads = 0;
  bool causal = false;
  int64_t window = 0;
  cpu::DropoutKey dropout;
  const cpu::TileKernels* tiles = nullptr;  // for bf16 products where they are faster

  // The head of keys and values of a head of queries.
  int64_t kv_head(int64_t head) const { return head / (heads / kv_heads); }
  int64_t sentences() const { return static_cast<int64_t>(query_offsets.size()) - 1; }
  int64_t most_keys() const {
    int64_t most = 0;
    for (size_t b = 0; b + 1 < key_offsets.size(); ++b) {
      most = std::max(most, key_offsets[b + 1] - key_offsets[b]);
    }
    return most;
  }
};

// A random start per head; its weights are numbered consecutively from there.
uint64_t first_index(const Layout& layout, int64_t sentence, int64_t head) {
  return mix64(static_cast<uint64_t>(sentence * layout.heads + head) + 1);
}

cpu::AttentionHead head_of(const Layout& layout, const torch::Tensor& queries,
                           const torch::Tensor& keys, const torch::Tensor& values, int64_t sentence,
                           int64_t head) {
  const int64_t d_k = queries.size(1) / layout.heads, d_v = values.size(1) / layout.kv_heads;
  const int64_t q0 = layout.query_offsets[sentence], k0 = layout.key_offsets[sentence];
  const int64_t kv = layout.kv_head(head);
  cpu::AttentionHead out{};
  out.query = queries.const_data_ptr<float>() + q0 * queries.size(1) + head * d_k;
  out.key = keys.const_data_ptr<float>() + k0 * keys.size(1) + kv * d_k;
  out.value = values.const_data_ptr<float>() + k0 * values.size(1) + kv * d_v;
  out.query_stride = queries.size(1);
  out.key_stride = keys.size(1);
  out.value_stride = values.size(1);
  out.queries = layout.query_offsets[sentence + 1] - q0;
  out.keys = layout.key_offsets[sentence + 1] - k0;
  out.d_k = d_k;
  out.d_v = d_v;
  out.causal = layout.causal;
  out.window = layout.window;
  out.dropout = layout.dropout;
  out.first_index = first_index(layout, sentence, head);
  return out;
}

// Heads narrower than a vector of 16 floats are faster side by side in one.
bool across_heads(int64_t heads, int64_t d_k, int64_t d_v) {
  return heads > 1 && std::max(d_k, d_v) < 16;
}

// A sentence is the unit of work: its heads share cache lines.
template <class F>
void for_each_sentence(const Layout& layout, int64_t scratch_floats, F&& work) {
  at::parallel_for(0, layout.sentences(), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(static_cast<size_t>(scratch_floats));
    for (int64_t sentence = begin; sentence < end; ++sentence) work(sentence, scratch.data());
  });
}

// Floats of scratch for one head of the longest sentence.
int64_t scratch_of_head(const Layout& layout, int64_t d_k, int64_t d_v) {
  const int64_t keys = layout.most_keys();
  const int64_t floats = cpu::kernels().attention_scratch(keys, d_k, d_v);
  return layout.tiles ? std::max(floats, cpu::tile_attention_scratch(keys, d_k, d_v)) : floats;
}

bool takes_tiles(const Layout& layout, const cpu::AttentionHead& head) {
  return layout.tiles != nullptr && cpu::suits_tile_attention(head);
}

std::vector<uint64_t> first_indices(const Layout& layout, int64_t sentence) {
  std::vector<uint64_t> indices;
  for (int64_t h = 0; h < layout.heads; ++h) indices.push_back(first_index(layout, sentence, h));
  return indices;
}

class CpuAttention : public torch::autograd::Function<CpuAttention> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& queries,
                               const torch::Tensor& keys, const torch::Tensor& values,
                               std::shared_ptr<const Layout> layout) {
    const int64_t heads = layout->heads, d_v = values.size(1) / layout->kv_heads;
    const torch::Tensor out = torch::empty({queries.size(0), heads * d_v}, queries.options());
    const torch::Tensor log_sums = torch::empty({heads, queries.size(0)}, queries.options());
    const int64_t d_k = queries.size(1) / heads, most = layout->most_keys(), rows = queries.size(0);
    const cpu::Kernels& kernels = cpu::kernels();
    const bool narrow = across_heads(layout->heads, d_k, d_v);
    const int64_t scratch = narrow ? kernels.narrow_attention_scratch(most, d_k, d_v)
                                   : scratch_of_head(*layout, d_k, d_v);
    for_each_sentence(*layout, scratch, [&](int64_t sentence, float* buffer) {
      const int64_t row = layout->query_offsets[sentence];
      float* output = out.data_ptr<float>() + row * out.size(1);
      float* log_sum = log_sums.data_ptr<float>() + row;
      if (narrow) {
        kernels.narrow_attention_forward(head_of(*layout, queries, keys, values, sentence, 0),
                                         heads, first_indices(*layout, sentence).data(), output,
                                         out.size(1), log_sum, rows, buffer);
        return;
      }
      for (int64_t h = 0; h < heads; ++h) {
        const auto head = head_of(*layout, queries, keys, values, sentence, h);
        if (takes_tiles(*layout, head)) {
          cpu::tile_attention_forward(*layout->tiles, head, output + h * d_v, out.size(1),
                                      log_sum + h * rows, buffer);
        } else {
          kernels.attention_forward(head, output + h * d_v, out.size(1), log_sum + h * rows,
                                    buffer);
        }
      }
    });
    context->save_for_backward({queries, keys, values, log_sums});
    context->saved_data["layout"] =
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(std::move(layout)));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto holder = context->saved_data["layout"].toCapsule();
    const Layout& layout = *static_cast<const Holder&>(*holder).layout;
    const torch::Tensor d_out = gradients[0].contiguous();
    const torch::Tensor &queries = saved[0], &keys = saved[1], &values = saved[2];
    const torch::Tensor d_queries = torch::empty_like(queries);
    const torch::Tensor d_keys = torch::zeros_like(keys), d_values = torch::zeros_like(values);
    const int64_t d_k = queries.size(1) / layout.heads, d_v = values.size(1) / layout.kv_heads;
    const cpu::Kernels& kernels = cpu::kernels();
    const bool narrow = across_heads(layout.heads, d_k, d_v);
    const int64_t scratch = narrow ? kernels.narrow_attention_scratch(layout.most_keys(), d_k, d_v)
                                   : scratch_of_head(layout, d_k, d_v);
    const auto gradients_of = [&](int64_t sentence, int64_t head) {
      const int64_t q0 = layout.query_offsets[sentence], k0 = layout.key_offsets[sentence];
      const int64_t kv = layout.kv_head(head);
      return cpu::AttentionGradients{
          .output = d_out.const_data_ptr<float>() + q0 * d_out.size(1) + head * d_v,
          .output_stride = d_out.size(1),
          .log_sum = saved[3].const_data_ptr<float>() + head * queries.size(0) + q0,
          .query = d_queries.data_ptr<float>() + q0 * queries.size(1) + head * d_k,
          .key = d_keys.data_ptr<float>() + k0 * keys.size(1) + kv * d_k,
          .value = d_values.data_ptr<float>() + k0 * values.size(1) + kv * d_v};
    };
    for_each_sentence(layout, scratch, [&](int64_t sentence, float* buffer) {
      if (narrow) {
        kernels.narrow_attention_backward(head_of(layout, queries, keys, values, sentence, 0),
                                          layout.heads, first_indices(layout, sentence).data(),
                                          gradients_of(sentence, 0), queries.size(0), buffer);
        return;
      }
      for (int64_t h = 0; h < layout.heads; ++h) {
        const auto head = head_of(layout, queries, keys, values, sentence, h);
        if (takes_tiles(layout, head)) {
          cpu::tile_attention_backward(*layout.tiles, head, gradients_of(sentence, h), buffer);
        } else {
          kernels.attention_backward(head, gradients_of(sentence, h), buffer);
        }
      }
    });
    return {d_queries, d_keys, d_values, torch::Tensor()};
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<const Layout> held) : layout(std::move(held)) {}
    std::shared_ptr<const Layout> layout;
  };
};

// Row indices of the padded layout: [sentences * longest], `rows` (an extra zero row) in padding.
torch::Tensor padded_rows(std::span<const int64_t> offsets, int64_t longest, int64_t rows) {
  const auto sentences = static_cast<int64_t>(offsets.size()) - 1;
  torch::Tensor index = torch::full({sentences * longest}, rows, torch::kInt64);
  int64_t* slot = index.data_ptr<int64_t>();
  for (int64_t b = 0; b < sentences; ++b) {
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i) slot[b * longest + i - offsets[b]] = i;
  }
  return index;
}

int64_t longest_of(std::span<const int64_t> offsets) {
  int64_t longest = 0;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    longest = std::max(longest, offsets[b + 1] - offsets[b]);
  }
  return longest;
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
  return queries.is_cuda() && options.query_starts.defined() && options.key_starts.defined() &&
         options.window == 0 && options.dropout == 0.0 &&
         queries.size(1) / options.heads % 8 == 0 && values.size(1) / options.heads % 8 == 0 &&
         !has_empty_sentence(options.key_offsets) &&
         !(requires_gradient(queries, keys, values) && has_empty_sentence(options.query_offsets));
}

torch::Tensor ragged_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                               const torch::Tensor& values, const PackedAttention& options) {
  const auto heads = [&](const torch::Tensor& rows) {  // one batch of all rows
    return rows.contiguous().view({1, rows.size(0), options.heads, -1});
  };
  constexpr int64_t kWhole = 0, kCausal = 1;  // the operator's custom_mask_type
  const torch::Tensor out = std::get<0>(at::_efficient_attention_forward(
      heads(queries), heads(keys), heads(values), /*bias=*/std::nullopt, options.query_starts,
      options.key_starts, longest_of(options.query_offsets), longest_of(options.key_offsets),
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

// [M, H'·K] to [M, H·K]: each head of keys or values once for each head of queries.
torch::Tensor repeated_heads(const torch::Tensor& rows, const PackedAttention& options) {
  const int64_t group = options.heads / options.kv_heads;
  if (group == 1) return rows;
  return rows.unflatten(1, {options.kv_heads, 1, -1})
      .expand({-1, -1, group, -1})
      .reshape({rows.size(0), rows.size(1) * group});
}

}  // namespace

torch::Tensor visible_keys(int64_t queries, int64_t keys, bool causal, int64_t window,
                           torch::Device device) {
  torch::Tensor visible =
      torch::ones({queries, keys}, torch::TensorOptions(device).dtype(torch::kBool));
  if (causal) visible = visible.tril();
  if (window == 0) return visible;
  const int64_t before = causal ? window - 1 : window / 2;
  return visible.triu(-before).tril(before);
}

torch::Tensor padded_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                               const torch::Tensor& values, const PackedAttention& options) {
  const int64_t sentences = static_cast<int64_t>(options.query_offsets.size()) - 1;
  const int64_t longest_query = longest_of(options.query_offsets);
  const int64_t longest_key = std::max<int64_t>(longest_of(options.key_offsets), 1);
  const torch::Tensor query_rows =
      padded_rows(options.query_offsets, longest_query, queries.size(0)).to(queries.device());
  const torch::Tensor key_rows =
      padded_rows(options.key_offsets, longest_key, keys.size(0)).to(queries.device());
  const auto heads = [&](const torch::Tensor& rows, const torch::Tensor& index, int64_t longest) {
    return torch::constant_pad_nd(rows, {0, 0, 0, 1})
        .index_select(0, index)
        .view({sentences, longest, options.heads, -1})
        .transpose(1, 2);
  };
  torch::Tensor allowed = (key_rows != keys.size(0)).view({sentences, 1, 1, longest_key});
  if (options.causal || options.window > 0) {
    allowed = allowed & visible_keys(longest_query, longest_key, options.causal, options.window,
                                     allowed.device());
  }
  // A padding query may attend to no key; it gets its first key, and its output is dropped below.
  const torch::Tensor none = ~allowed.any(-1, true);
  torch::Tensor first = torch::zeros({1, 1, 1, longest_key}, allowed.options());
  first.select(-1, 0).fill_(true);
  const torch::Tensor out = torch::scaled_dot_product_attention(
      heads(queries, query_rows, longest_query), heads(keys, key_rows, longest_key),
      heads(values, key_rows, longest_key), allowed | (none & first), options.dropout);
  const torch::Tensor rows =
      out.masked_fill(none, 0.0).transpose(1, 2).reshape({sentences * longest_query, -1});
  return rows.index_select(0, (query_rows != queries.size(0)).nonzero().squeeze(1));
}

torch::Tensor packed_attention(const torch::Tensor& queries, const torch::Tensor& own_keys,
                               const torch::Tensor& own_values, const PackedAttention& given) {
  PackedAttention options = given;
  if (options.kv_heads == 0) options.kv_heads = options.heads;
  check_shapes(queries, own_keys, own_values, options);
  TORCH_CHECK(options.window == 0 || std::ranges::equal(options.query_offsets, options.key_offsets),
              "attention: a window is for self-attention");
  torch::Tensor keys = own_keys, values = own_values;
  const int64_t d_k = queries.size(1) / options.heads, d_v = values.size(1) / options.kv_heads;
  if (!queries.is_cpu() || across_heads(options.heads, d_k, d_v)) {  // these take equal heads
    keys = repeated_heads(keys, options);
    values = repeated_heads(values, options);
    options.kv_heads = options.heads;
  }
  if (supports_ragged_lengths(queries, keys, values, options)) {
    return ragged_attention(queries, keys, values, options);
  }
  if (!queries.is_cpu()) return padded_attention(queries, keys, values, options);
  auto layout = std::make_shared<Layout>();
  layout->query_offsets.assign(options.query_offsets.begin(), options.query_offsets.end());
  layout->key_offsets.assign(options.key_offsets.begin(), options.key_offsets.end());
  layout->heads = options.heads;
  layout->kv_heads = options.kv_heads;
  layout->causal = options.causal;
  layout->window = options.window;
  layout->dropout = draw_dropout_key(options.dropout);
  const PackedWeights* packed = ComputeScope::packed_weights();
  if (packed != nullptr && packed->precision() == Precision::bf16 &&
      cpu::chosen_attention() == cpu::AttentionProducts::tiles) {
    layout->tiles = cpu::tile_kernels();
  }
  const auto widen = [](const torch::Tensor& x) { return x.to(torch::kFloat32).contiguous(); };
  return CpuAttention::apply(widen(queries), widen(keys), widen(values),
                             std::shared_ptr<const Layout>(std::move(layout)));
}

bool step_attention_runs_on(const torch::Tensor& queries) {
  return runs_on_cpu_kernels(queries) &&
         !(torch::GradMode::is_enabled() && queries.requires_grad());
}

torch::Tensor step_attention(const torch::Tensor& queries_R, std::span<const torch::Tensor> keys,
                             std::span<const torch::Tensor> values,
                             std::span<const std::vector<int32_t>> backpointers, int64_t heads,
                             int64_t kv_heads) {
  const auto steps = static_cast<int64_t>(keys.size());
  const int64_t rows = queries_R.size(0);
  std::vector<const float*> key_steps, value_steps;
  for (int64_t t = 0; t < steps; ++t) {
    TORCH_CHECK(keys[t].is_contiguous() && values[t].is_contiguous() &&
                    static_cast<int64_t>(backpointers[t].size()) == rows,
                "step_attention: keys, values or back-pointers of position ", t);
    key_steps.push_back(keys[t].const_data_ptr<float>());
    value_steps.push_back(values[t].const_data_ptr<float>());
  }
  const torch::Tensor queries = queries_R.contiguous();
  const int64_t d_k = queries.size(1) / heads, d_v = values[0].size(1) / kv_heads;
  const torch::Tensor out = torch::empty({rows, heads * d_v}, queries.options());
  at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(
        static_cast<size_t>(cpu::kernels().step_attention_scratch(heads, steps)));
    std::vector<int32_t> past(static_cast<size_t>((end - begin) * steps));
    std::vector<const int32_t*> rows_past;
    for (int64_t r = begin; r < end; ++r) {
      int32_t* of_row = past.data() + (r - begin) * steps;
      for (int64_t t = 0; t < steps; ++t) of_row[t] = backpointers[t][r];
      rows_past.push_back(of_row);
    }
    cpu::kernels().step_attention({.query = queries.const_data_ptr<float>() + begin * heads * d_k,
                                   .query_stride = heads * d_k,
                                   .count = end - begin,
                                   .keys = key_steps.data(),
                                   .values = value_steps.data(),
                                   .rows = rows_past.data(),
                                   .steps = steps,
                                   .key_stride = kv_heads * d_k,
                                   .value_stride = kv_heads * d_v,
                                   .heads = heads,
                                   .kv_heads = kv_heads,
                                   .d_k = d_k,
                                   .d_v = d_v},
                                  out.data_ptr<float>() + begin * heads * d_v, scratch.data());
  });
  return out;
}

}  // namespace attn
