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

torch::Tensor rotate(const torch::Tensor& x_NE, const Rotation& rotation) {
  if (!rotation.defined()) return x_NE;
  TORCH_CHECK(x_NE.dim() == 2 && x_NE.size(0) == rotation.positions_N.size(0) &&
                  x_NE.size(1) % rotation.table_PK.size(1) == 0,
              "rotate: rows ", x_NE.sizes(), ", ", rotation.positions_N.size(0),
              " positions, width ", rotation.table_PK.size(1));
  if (!x_NE.is_cpu()) return rotate_libtorch(x_NE, rotation);
  return Rotate::apply(x_NE.to(torch::kFloat32), rotation.table_PK,
                       rotation.positions_N.contiguous());
}

torch::Tensor rotate_libtorch(const torch::Tensor& x_NE, const Rotation& rotation) {
  const int64_t pairs = rotation.table_PK.size(1) / 2;
  const torch::Tensor line = rotation.table_PK.index_select(0, rotation.positions_N);
  const torch::Tensor angles = line.view({line.size(0), 1, pairs, 2});
  const torch::Tensor sine = angles.select(3, 0), cosine = angles.select(3, 1);
  const torch::Tensor x = x_NE.to(torch::kFloat32).view({x_NE.size(0), -1, pairs, 2});
  const torch::Tensor even = x.select(3, 0), odd = x.select(3, 1);
  return torch::stack({even * cosine - odd * sine, even * sine + odd * cosine}, 3)
      .flatten(1)
      .to(x_NE.scalar_type());
}

void rotate_heads(float* x, const float* line_K, int64_t heads, int64_t d_k) {
  turn(x, x, line_K, heads, d_k, 1.0f);
}

}  // namespace attn
