#include "kernels/packed_linear.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/cpu/table.h"

namespace attn {
namespace {

constexpr int64_t kWorthAThread = 1 << 16;  // multiplications

}  // namespace

PackedLinear::PackedLinear(const torch::Tensor& weight, const torch::Tensor& bias)
    : inputs_(weight.size(1)), outputs_(weight.size(0)) {
  TORCH_CHECK(weight.dim() == 2 && weight.is_cpu() && weight.scalar_type() == torch::kFloat32,
              "a packed linear layer wants a float32 matrix on the CPU, not ", weight.sizes());
  const torch::Tensor rows = weight.detach().contiguous();
  const auto& kernels = cpu::kernels();
  panels_ = torch::empty({kernels.panels(outputs_) * kernels.panel_outputs * inputs_});
  kernels.pack_panels(rows.const_data_ptr<float>(), outputs_, inputs_, panels_.data_ptr<float>());
  if (!bias.defined()) return;
  TORCH_CHECK(bias.numel() == outputs_, "a bias of ", bias.numel(), " for ", outputs_, " outputs");
  const torch::Tensor values = bias.detach().contiguous();
  bias_.assign(values.const_data_ptr<float>(), values.const_data_ptr<float>() + outputs_);
}

void PackedLinear::apply(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
                         bool relu) const {
  const auto& kernels = cpu::kernels();
  const cpu::PanelProduct product{.x = x,
                                  .x_stride = x_stride,
                                  .panels = panels_.const_data_ptr<float>(),
                                  .bias = bias_.empty() ? nullptr : bias_.data(),
                                  .y = y,
                                  .y_stride = y_stride,
                                  .rows = rows,
                                  .inputs = inputs_,
                                  .outputs = outputs_,
                                  .relu = relu};
  const int64_t work = std::max<int64_t>(1, rows * inputs_ * kernels.panel_outputs);
  at::parallel_for(
      0, kernels.panels(outputs_), std::max<int64_t>(1, kWorthAThread / work),
      [&](int64_t begin, int64_t end) { kernels.multiply_panels(product, begin, end); });
}

}  // namespace attn
