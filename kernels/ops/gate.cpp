// Fast path silu_gate: silu_gate 5dc53123
// Fast path silu_gate: linear aab16616
#include "kernels/ops/gate.h"

#include <ATen/Parallel.h>

#include "kernels/cpu/table.h"
#include "kernels/ops/dropout.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kElementsAThread = 4096;

class SiluGate : public torch::autograd::Function<SiluGate> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& gate_in,
                               const torch::Tensor& x_in) {
    const torch::Tensor gate = gate_in.contiguous(), x = x_in.contiguous();
    context->save_for_backward({gate, x});
    return silu_gate_forward(gate, x);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    return silu_gate_backward(saved[0], saved[1], gradients[0].contiguous());
  }
};

}  // namespace

torch::Tensor silu_gate_forward(const torch::Tensor& gate, const torch::Tensor& x) {
  const torch::Tensor product = torch::empty_like(x);
  at::parallel_for(0, x.numel(), kElementsAThread, [&](int64_t begin, int64_t end) {
    cpu::kernels().silu_gate(gate.const_data_ptr<float>() + begin,
                             x.const_data_ptr<float>() + begin, product.data_ptr<float>() + begin,
                             end - begin);
  });
  return product;
}

variable_list silu_gate_backward(const torch::Tensor& gate, const torch::Tensor& x,
                                 const torch::Tensor& d_product) {
  const torch::Tensor d_gate = torch::empty_like(gate), d_x = torch::empty_like(x);
  at::parallel_for(0, x.numel(), kElementsAThread, [&](int64_t begin, int64_t end) {
    cpu::kernels().silu_gate_backward(
        gate.const_data_ptr<float>() + begin, x.const_data_ptr<float>() + begin,
        d_product.const_data_ptr<float>() + begin, d_gate.data_ptr<float>() + begin,
        d_x.data_ptr<float>() + begin, end - begin);
  });
  return {d_gate, d_x};
}

torch::Tensor silu_gate(const torch::Tensor& gate, const torch::Tensor& x) {
  TORCH_CHECK(gate.sizes() == x.sizes(), "silu_gate: ", gate.sizes(), " and ", x.sizes());
  return SiluGate::apply(gate.to(torch::kFloat32), x.to(torch::kFloat32));
}

}  // namespace attn
