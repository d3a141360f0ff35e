// Fast path rotary: rotary a2041e26
#include "kernels/ops/rotary.h"

#include <ATen/Parallel.h>

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRowsAThread = 64;

// `direction`: 1, or -1 for the inverse rotation.
void turn(const float* in, float* out, const float* line_K, int64_t heads, int64_t d_k,
          float direction) {
  for (int64_t h = 0; h < heads; ++h, in += d_k, out += d_k) {
    for (int64_t i = 0; i < d_k; i += 2) {
      const float sine = direction * line_K[i], cosine = line_K[i + 1];
      const float even = in[i], odd = in[i + 1];
      out[i] = even * cosine - odd * sine;
      out[i + 1] = even * sine + odd * cosine;
    }
  }
}

torch::Tensor turned(const torch::Tensor& x_NE, const Rotation& rotation, float direction) {
  const torch::Tensor in = x_NE.contiguous(), out = torch::empty_like(in);
  const int64_t d_k = rotation.table_PK.size(1), width = in.size(1);
  const float* table = rotation.table_PK.const_data_ptr<float>();
  const int64_t* positions = rotation.positions_N.const_data_ptr<int64_t>();
  const float* from = in.const_data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, in.size(0), kRowsAThread, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      turn(from + n * width, to + n * width, table + positions[n] * d_k, width / d_k, d_k,
           direction);
    }
  });
  return out;
}

class Rotate : public torch::autograd::Function<Rotate> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_NE,
                               const torch::Tensor& table_PK, const torch::Tensor& positions_N) {
    context->save_for_backward({table_PK, positions_N});
    return turned(x_NE, {table_PK, positions_N}, 1.0f);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    return {turned(gradients[0], {saved[0], saved[1]}, -1.0f), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor fast_rotate(const torch::Tensor& x_NE, const Rotation& rotation) {
  return Rotate::apply(x_NE.to(torch::kFloat32), rotation.table_PK,
                       rotation.positions_N.contiguous());
}

void rotate_heads(float* x, const float* line_K, int64_t heads, int64_t d_k) {
  turn(x, x, line_K, heads, d_k, 1.0f);
}

}  // namespace attn
