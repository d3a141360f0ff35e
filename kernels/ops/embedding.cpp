// Fast path embedding: embedding cc51a062
#include "kernels/ops/embedding.h"

#include <span>

#include "kernels/compute_scope.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/gradient_target.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ScaledEmbedding : public torch::autograd::Function<ScaledEmbedding> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const torch::Tensor& tokens, double scale) {
    save_parameter(*context, weight);
    context->saved_data["scale"] = scale;
    context->save_for_backward({tokens});
    return torch::embedding(weight, tokens).mul_(scale);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::Tensor tokens = context->get_saved_variables()[0].contiguous();
    const torch::Tensor dy = gradients[0].contiguous();
    const GradientTarget target(saved_parameter(*context));
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const int64_t width = dy.size(1);
    const float* from = dy.const_data_ptr<float>();
    float* sums = target.into.data_ptr<float>();
    for (const int64_t token : std::span(tokens.const_data_ptr<int64_t>(), tokens.numel())) {
      float* row = sums + token * width;
      for (int64_t c = 0; c < width; ++c) row[c] += scale * from[c];
      from += width;
    }
    return {target.to_return, torch::Tensor(), torch::Tensor()};
  }
};

class ScaledEmbeddingSum : public torch::autograd::Function<ScaledEmbeddingSum> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const torch::Tensor& ids, const torch::Tensor& offsets,
                               double scale) {
    save_parameter(*context, weight);
    context->saved_data["scale"] = scale;
    context->save_for_backward({ids, offsets});
    const torch::Tensor table = weight.contiguous();
    const torch::Tensor sums = torch::zeros({offsets.numel() - 1, weight.size(1)}, table.options());
    for_each_id(ids, offsets, sums, table, [&](float* row, const float* embedding, int64_t width) {
      for (int64_t c = 0; c < width; ++c) row[c] += static_cast<float>(scale) * embedding[c];
    });
    return sums;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const GradientTarget target(saved_parameter(*context));
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    for_each_id(saved[0], saved[1], gradients[0].contiguous(), target.into,
                [&](const float* row, float* sum, int64_t width) {
                  for (int64_t c = 0; c < width; ++c) sum[c] += scale * row[c];
                });
    return {target.to_return, torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }

 private:
  /// Calls visit(row of `rows`, row of `table`, width) for each id of each row, in order.
  template <class Visit>
  static void for_each_id(const torch::Tensor& ids, const torch::Tensor& offsets,
                          const torch::Tensor& rows, const torch::Tensor& table, Visit&& visit) {
    const int64_t width = table.size(1), count = table.size(0);
    const torch::Tensor all = ids.contiguous(), bounds = offsets.contiguous();
    const auto* id = all.const_data_ptr<int64_t>();
    const auto* bound = bounds.const_data_ptr<int64_t>();
    auto *row = rows.data_ptr<float>(), *first = table.data_ptr<float>();
    for (int64_t n = 0; n + 1 < bounds.numel(); ++n, row += width) {
      for (int64_t i = bound[n]; i < bound[n + 1]; ++i) {
        TORCH_CHECK_INDEX(id[i] >= 0 && id[i] < count, "feature ", id[i], " of ", count);
        visit(row, first + id[i] * width, width);
      }
    }
  }
};

}  // namespace

torch::Tensor scaled_embedding_sum(const torch::Tensor& weight_VD, const torch::Tensor& ids_F,
                                   const torch::Tensor& offsets_N1, double scale) {
  if (runs_on_cpu_kernels(weight_VD) && ComputeScope::takes(FastPath::embedding)) {
    return ScaledEmbeddingSum::apply(weight_VD, ids_F, offsets_N1, scale);
  }
  // Formula embedding: fast path above.
  return std::get<0>(torch::embedding_bag(weight_VD, ids_F, offsets_N1,
                                          /*scale_grad_by_freq=*/false, /*mode=*/0,
                                          /*sparse=*/false, /*per_sample_weights=*/{},
                                          /*include_last_offset=*/true)) *
         scale;
  // End of formula.
}

torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale) {
  if (runs_on_cpu_kernels(weight_VD) && ComputeScope::takes(FastPath::embedding)) {
    return ScaledEmbedding::apply(weight_VD, tokens_N, scale);
  }
  // Formula embedding: fast path above.
  return torch::embedding(weight_VD, tokens_N) * scale;
  // End of formula.
}

}  // namespace attn
