// Attention on a CPU: splits the work into sentences and heads and selects the kernel.
#include "kernels/ops/cpu_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/random.h"
#include "kernels/compute_scope.h"
#include "kernels/cpu/instructions.h"
#include "kernels/cpu/table.h"
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
                           const torch::Tensor& keys, const torch::Tensor& values,
                           const torch::Tensor& bias, int64_t sentence, int64_t head) {
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
  if (bias.defined()) {
    out.bias = bias.const_data_ptr<float>() + head * bias.size(1) + bias.size(1) / 2;
    out.bias_stride = bias.size(1);
  }
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

bool takes_tiles(const Layout& layout, const cpu::AttentionHead& head) {
  return layout.tiles != nullptr && cpu::suits_tile_attention(head);
}

// Floats of scratch for one head of the longest sentence.
int64_t scratch_of_head(const Layout& layout, int64_t d_k, int64_t d_v) {
  cpu::AttentionHead longest{};
  longest.keys = layout.most_keys(), longest.d_k = d_k, longest.d_v = d_v;
  longest.window = layout.window;
  const int64_t floats = cpu::kernels().attention_scratch(longest.keys, d_k, d_v);
  if (!takes_tiles(layout, longest)) return floats;
  return std::max(floats, cpu::tile_attention_scratch(longest.keys, d_k, d_v));
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
                               const std::optional<torch::Tensor>& optional_bias,
                               std::shared_ptr<const Layout> layout) {
    const torch::Tensor bias = optional_bias.value_or(torch::Tensor());
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
        kernels.narrow_attention_forward(head_of(*layout, queries, keys, values, bias, sentence, 0),
                                         heads, first_indices(*layout, sentence).data(), output,
                                         out.size(1), log_sum, rows, buffer);
        return;
      }
      for (int64_t h = 0; h < heads; ++h) {
        const auto head = head_of(*layout, queries, keys, values, bias, sentence, h);
        if (takes_tiles(*layout, head)) {
          cpu::tile_attention_forward(*layout->tiles, head, output + h * d_v, out.size(1),
                                      log_sum + h * rows, buffer);
        } else {
          kernels.attention_forward(head, output + h * d_v, out.size(1), log_sum + h * rows,
                                    buffer);
        }
      }
    });
    context->save_for_backward({queries, keys, values, log_sums, bias});
    context->saved_data["layout"] =
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(std::move(layout)));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto holder = context->saved_data["layout"].toCapsule();
    const Layout& layout = *static_cast<const Holder&>(*holder).layout;
    const torch::Tensor d_out = gradients[0].contiguous();
    const torch::Tensor &queries = saved[0], &keys = saved[1], &values = saved[2], &bias = saved[4];
    torch::Tensor d_biases;  // of each sentence, since sentences are added up by several threads
    if (bias.defined() && bias.requires_grad()) {
      d_biases = torch::zeros({layout.sentences(), bias.size(0), bias.size(1)}, bias.options());
    }
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
          .value = d_values.data_ptr<float>() + k0 * values.size(1) + kv * d_v,
          .bias = d_biases.defined()
                      ? d_biases.data_ptr<float>() +
                            (sentence * layout.heads + head) * bias.size(1) + bias.size(1) / 2
                      : nullptr};
    };
    for_each_sentence(layout, scratch, [&](int64_t sentence, float* buffer) {
      if (narrow) {
        kernels.narrow_attention_backward(head_of(layout, queries, keys, values, bias, sentence, 0),
                                          layout.heads, first_indices(layout, sentence).data(),
                                          gradients_of(sentence, 0), queries.size(0), buffer);
        return;
      }
      for (int64_t h = 0; h < layout.heads; ++h) {
        const auto head = head_of(layout, queries, keys, values, bias, sentence, h);
        if (takes_tiles(layout, head)) {
          cpu::tile_attention_backward(*layout.tiles, head, gradients_of(sentence, h), buffer);
        } else {
          kernels.attention_backward(head, gradients_of(sentence, h), buffer);
        }
      }
    });
    return {d_queries, d_keys, d_values, d_biases.defined() ? d_biases.sum(0) : torch::Tensor(),
            torch::Tensor()};
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<const Layout> held) : layout(std::move(held)) {}
    std::shared_ptr<const Layout> layout;
  };
};

}  // namespace

bool attends_across_heads(const torch::Tensor& queries, const torch::Tensor& values,
                          const PackedAttention& options) {
  return across_heads(options.heads, queries.size(1) / options.heads,
                      values.size(1) / options.kv_heads);
}

torch::Tensor cpu_attention(const torch::Tensor& queries, const torch::Tensor& keys,
                            const torch::Tensor& values, const PackedAttention& options) {
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
  std::optional<torch::Tensor> bias;
  if (options.bias_HP.defined()) bias = widen(options.bias_HP);
  return CpuAttention::apply(widen(queries), widen(keys), widen(values), bias,
                             std::shared_ptr<const Layout>(std::move(layout)));
}

}  // namespace attn
