// Attention on a CPU: splits the work into sentences and heads and selects the kernel.
// Fast path attention: attention 6c161ee7
// Fast path attention: multi_head_attention 21ebf064
// Fast path attention: masked_softmax e266e7e4
// Fast path attention: visible_keys 2a8fd925
// Fast path attention: score_bias 74c5423e
// Fast path attention: relative_positions 91f57795
// Fast path attention: dropout b0fdaf95
#include "kernels/ops/attention_options.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/cpu/table.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/relative_rows.h"

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

  // The head of keys and values of a head of queries.
  int64_t kv_head(int64_t head) const { return head / (heads / kv_heads); }
  int64_t sentences() const { return static_cast<int64_t>(query_offsets.size()) - 1; }
};

// The operands of attention, float32 and contiguous; those of positions may be undefined.
struct Operands {
  torch::Tensor queries, keys, values, bias;
  RelativeVectors relative;

  int64_t d_k(const Layout& layout) const { return queries.size(1) / layout.heads; }
  int64_t d_v(const Layout& layout) const { return values.size(1) / layout.kv_heads; }
};

cpu::AttentionHead head_of(const Layout& layout, const Operands& operands, int64_t sentence,
                           int64_t head) {
  const auto& [queries, keys, values, bias, relative] = operands;
  const int64_t d_k = operands.d_k(layout), d_v = operands.d_v(layout);
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
  out.first_index = first_weight(sentence, layout.heads, head);
  if (bias.defined()) {
    out.bias = bias.const_data_ptr<float>() + head * bias.size(1) + bias.size(1) / 2;
  }
  if (out.keys > 0) {
    out.relative = relative_rows(relative, out.keys - 1, head * d_k, head * d_v);
  }
  return out;
}

int64_t group_count(const Layout& layout, int64_t size) {
  return (layout.sentences() + size - 1) / size;
}

// Calls work(sentence, group, scratch) for groups of `size` neighbouring sentences, each group in
// one thread. A sentence is the unit of work: its heads share cache lines.
template <class F>
void for_each_sentence(const Layout& layout, int64_t size, int64_t scratch_floats, F&& work) {
  at::parallel_for(0, group_count(layout, size), 1, [&](int64_t begin, int64_t end) {
    // A tensor, since vectors of floats are not aligned to cache lines.
    const torch::Tensor scratch = torch::empty({scratch_floats}, torch::kFloat);
    for (int64_t group = begin; group < end; ++group) {
      const int64_t last = std::min((group + 1) * size, layout.sentences());
      for (int64_t sentence = group * size; sentence < last; ++sentence) {
        work(sentence, group, scratch.data_ptr<float>());
      }
    }
  });
}

// Floats of scratch for a head of the longest sentence.
int64_t scratch_size(const Layout& layout, const Operands& operands) {
  const cpu::Kernels& kernels = cpu::kernels();
  const int64_t keys = longest_of(layout.key_offsets);
  const int64_t d_k = operands.d_k(layout), d_v = operands.d_v(layout);
  int64_t floats = kernels.attention_scratch(keys, d_k, d_v);
  if (operands.relative.defined()) {
    floats += kernels.relative_scratch(operands.relative.clip(), d_k, d_v);
  }
  return floats;
}

// The gradient of a small operand that all sentences share: a part for each group of sentences,
// added up by total(). Undefined unless needed.
class SharedGradient {
 public:
  SharedGradient(const torch::Tensor& of, int64_t groups, bool needed) {
    if (!needed) return;
    parts_ = torch::zeros({groups, of.size(0), of.size(1)}, of.options());
  }
  // That of a group, at an element of its first row; null if undefined.
  float* part(int64_t group, int64_t column) const {
    if (!parts_.defined()) return nullptr;
    return parts_.data_ptr<float>() + group * parts_.stride(0) + column;
  }
  torch::Tensor total() const { return parts_.defined() ? parts_.sum(0) : torch::Tensor(); }

 private:
  torch::Tensor parts_;
};

class CpuAttention : public torch::autograd::Function<CpuAttention> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& queries,
                               const torch::Tensor& keys, const torch::Tensor& values,
                               const std::optional<torch::Tensor>& bias,
                               const std::optional<torch::Tensor>& relative_keys,
                               const std::optional<torch::Tensor>& relative_values,
                               std::shared_ptr<const Layout> layout) {
    const Operands operands{
        queries,
        keys,
        values,
        bias.value_or(torch::Tensor()),
        {relative_keys.value_or(torch::Tensor()), relative_values.value_or(torch::Tensor())}};
    const int64_t heads = layout->heads, d_v = operands.d_v(*layout), rows = queries.size(0);
    const torch::Tensor out = torch::empty({rows, heads * d_v}, queries.options());
    const torch::Tensor log_sums = torch::empty({heads, rows}, queries.options());
    const cpu::Kernels& kernels = cpu::kernels();
    const auto attend = [&](int64_t sentence, int64_t /*group*/, float* scratch) {
      const int64_t row = layout->query_offsets[sentence];
      float* output = out.data_ptr<float>() + row * out.size(1);
      float* log_sum = log_sums.data_ptr<float>() + row;
      for (int64_t h = 0; h < heads; ++h) {
        const auto head = head_of(*layout, operands, sentence, h);
        kernels.attention_forward(head, output + h * d_v, out.size(1), log_sum + h * rows, scratch);
      }
    };
    for_each_sentence(*layout, 1, scratch_size(*layout, operands), attend);
    context->save_for_backward({queries, keys, values, log_sums, operands.bias,
                                operands.relative.keys, operands.relative.values});
    context->saved_data["layout"] =
        c10::IValue::make_capsule(c10::make_intrusive<Holder>(std::move(layout)));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto holder = context->saved_data["layout"].toCapsule();
    const Layout& layout = *static_cast<const Holder&>(*holder).layout;
    const Operands operands{saved[0], saved[1], saved[2], saved[4], {saved[5], saved[6]}};
    // Not structured bindings, which clang's OpenMP does not capture.
    const torch::Tensor &queries = operands.queries, &keys = operands.keys,
                        &values = operands.values, &bias = operands.bias;
    const auto& relative = operands.relative;
    const torch::Tensor d_out = gradients[0].contiguous();
    const torch::Tensor d_queries = torch::empty_like(queries);
    const torch::Tensor d_keys = torch::zeros_like(keys), d_values = torch::zeros_like(values);
    // The same groups for any number of threads, so that sums over them have the same bits.
    const int64_t group_size = bias.defined() || relative.defined() ? 4 : 1;
    const int64_t groups = group_count(layout, group_size);
    const SharedGradient d_bias(bias, groups, bias.defined() && bias.requires_grad());
    const SharedGradient d_relative_keys(relative.keys, groups, relative.defined());
    const SharedGradient d_relative_values(relative.values, groups, relative.defined());
    const int64_t d_k = operands.d_k(layout), d_v = operands.d_v(layout);
    const cpu::Kernels& kernels = cpu::kernels();
    const auto gradients_of = [&](const cpu::AttentionHead& head, int64_t sentence, int64_t group,
                                  int64_t h) {
      const int64_t q0 = layout.query_offsets[sentence], k0 = layout.key_offsets[sentence];
      const int64_t kv = layout.kv_head(h);
      cpu::AttentionGradients out{
          .output = d_out.const_data_ptr<float>() + q0 * d_out.size(1) + h * d_v,
          .output_stride = d_out.size(1),
          .log_sum = saved[3].const_data_ptr<float>() + h * queries.size(0) + q0,
          .query = d_queries.data_ptr<float>() + q0 * queries.size(1) + h * d_k,
          .key = d_keys.data_ptr<float>() + k0 * keys.size(1) + kv * d_k,
          .value = d_values.data_ptr<float>() + k0 * values.size(1) + kv * d_v};
      if (bias.defined()) out.bias = d_bias.part(group, h * bias.size(1) + bias.size(1) / 2);
      if (head.relative.key != nullptr) {
        const int64_t first = relative.clip() - head.relative.clip;
        out.relative_key = d_relative_keys.part(group, first * relative.keys.size(1) + h * d_k);
        out.relative_value =
            d_relative_values.part(group, first * relative.values.size(1) + h * d_v);
      }
      return out;
    };
    const auto add_gradients = [&](int64_t sentence, int64_t group, float* scratch) {
      for (int64_t h = 0; h < layout.heads; ++h) {
        const auto head = head_of(layout, operands, sentence, h);
        kernels.attention_backward(head, gradients_of(head, sentence, group, h), scratch);
      }
    };
    for_each_sentence(layout, group_size, scratch_size(layout, operands), add_gradients);
    return {d_queries,
            d_keys,
            d_values,
            d_bias.total(),
            d_relative_keys.total(),
            d_relative_values.total(),
            torch::Tensor()};
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<const Layout> held) : layout(std::move(held)) {}
    std::shared_ptr<const Layout> layout;
  };
};

}  // namespace

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
  const auto widen = [](const torch::Tensor& x) { return x.to(torch::kFloat32).contiguous(); };
  const auto optional = [&](const torch::Tensor& x) {
    return x.defined() ? std::optional(widen(x)) : std::nullopt;
  };
  return CpuAttention::apply(widen(queries), widen(keys), widen(values), optional(options.bias_HP),
                             optional(options.relative.keys), optional(options.relative.values),
                             std::shared_ptr<const Layout>(std::move(layout)));
}

}  // namespace attn
