#include "kernels/ops/repeated_heads.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/ops/dropout.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kElementsAThread = 1 << 14;

// Calls body(first, last) on ranges of heads of all rows. LibTorch's strided copies and sums are
// slow for narrow heads.
template <class Body>
void for_all_heads(int64_t count, int64_t width, const Body& body) {
  at::parallel_for(0, count, std::max<int64_t>(kElementsAThread / width, 1), body);
}

class RepeatedHeads : public torch::autograd::Function<RepeatedHeads> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& rows, int64_t heads,
                               int64_t group) {
    const torch::Tensor in = rows.contiguous();
    const int64_t count = in.size(0) * heads, width = in.size(1) / heads;
    const torch::Tensor out = torch::empty({in.size(0), in.size(1) * group}, in.options());
    for_all_heads(count, width, [&](int64_t first, int64_t last) {
      const float* from = in.const_data_ptr<float>() + first * width;
      float* to = out.data_ptr<float>() + first * group * width;
      for (int64_t h = first; h < last; ++h, from += width) {
        for (int64_t g = 0; g < group; ++g, to += width) std::copy_n(from, width, to);
      }
    });
    context->saved_data["width"] = width;
    context->saved_data["group"] = group;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const int64_t width = context->saved_data["width"].toInt();
    const int64_t group = context->saved_data["group"].toInt();
    const torch::Tensor d_out = gradients[0].contiguous();
    const torch::Tensor d_rows =
        torch::empty({d_out.size(0), d_out.size(1) / group}, d_out.options());
    const int64_t count = d_rows.numel() / width;
    for_all_heads(count, width, [&](int64_t first, int64_t last) {
      const float* from = d_out.const_data_ptr<float>() + first * group * width;
      float* to = d_rows.data_ptr<float>() + first * width;
      for (int64_t h = first; h < last; ++h, to += width) {
        std::copy_n(from, width, to);
        from += width;
        for (int64_t g = 1; g < group; ++g, from += width) {
          for (int64_t c = 0; c < width; ++c) to[c] += from[c];
        }
      }
    });
    return {d_rows, torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor repeated_heads(const torch::Tensor& rows, int64_t heads, int64_t group) {
  TORCH_CHECK(rows.dim() == 2 && heads > 0 && group > 0 && rows.size(1) % heads == 0,
              "repeated_heads: rows ", rows.sizes(), ", ", heads, " heads");
  if (group == 1) return rows;
  if (runs_on_cpu_kernels(rows) && rows.numel() > 0) {
    return RepeatedHeads::apply(rows, heads, group);
  }
  return rows.unflatten(1, {heads, 1, -1})
      .expand({-1, -1, group, -1})
      .reshape({rows.size(0), rows.size(1) * group});
}

}  // namespace attn
