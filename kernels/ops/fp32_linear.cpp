// linear() in float32 on panels (kernels/cpu/product_body.h).
#include <ATen/Parallel.h>

#include "kernels/cpu/table.h"
#include "kernels/ops/fp32_products.h"
#include "kernels/ops/linear_products.h"

namespace attn {
namespace fp32 {
namespace {

using torch::autograd::variable_list;

// Panels per unit of packing work.
constexpr int64_t kPanelsOfPiece = 16;
// Rows per pass over a weight gradient: the packed rows stay in L2.
constexpr int64_t kGradientRows = 256;
// Minimum columns per thread.
constexpr int64_t kColumnGrain = 64;

PackedWeight operand_like(const torch::Tensor& weight, bool gradients) {
  const int64_t outputs = weight.size(0), inputs = weight.size(1);
  return {.forward = panels(inputs, outputs),
          .backward = gradients ? panels(outputs, inputs) : torch::Tensor()};
}

void pack(const PackingPiece& piece) {
  const auto& kernels = cpu::kernels();
  const int64_t outputs = piece.weight->size(0), inputs = piece.weight->size(1);
  const int64_t begin = piece.first * kernels.panel_outputs;
  const int64_t end = begin + kPanelsOfPiece * kernels.panel_outputs;
  const auto* weight = piece.weight->const_data_ptr<float>();
  float* to = piece.operand->data_ptr<float>() + piece.first * piece.operand->stride(0);
  if (piece.forward) {
    kernels.pack_panels(weight + begin * inputs, std::min(end, outputs) - begin, inputs, to);
  } else {
    kernels.pack_columns(weight + begin, inputs, outputs, std::min(end, inputs) - begin, to);
  }
}

// y = x times the operand `right` of packed weights, plus a bias if there is one; [N, outputs].
void multiply_rows(const torch::Tensor& x, const torch::Tensor& right, const torch::Tensor& bias,
                   bool add, torch::Tensor& y) {
  multiply({.x = x.const_data_ptr<float>(),
            .x_stride = x.size(1),
            .panels = right.const_data_ptr<float>(),
            .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
            .y = y.data_ptr<float>(),
            .y_stride = y.size(1),
            .rows = x.size(0),
            .inputs = x.size(1),
            .outputs = y.size(1),
            .add = add});
}

variable_list multiply_all(const torch::Tensor& x, const LinearLayers& all) {
  variable_list results;
  for (const auto& layer : all.layers) {
    torch::Tensor& y =
        results.emplace_back(torch::empty({x.size(0), layer.outputs()}, x.options()));
    multiply_rows(x, layer.operand->forward, layer.bias, /*add=*/false, y);
  }
  return results;
}

torch::Tensor input_gradient(const torch::Tensor& x, const LinearLayers& all,
                             const variable_list& dy) {
  torch::Tensor dx = torch::empty_like(x);
  bool add = false;
  for (size_t m = 0; m < dy.size(); ++m) {
    if (!dy[m].defined()) continue;
    multiply_rows(dy[m], all.layers[m].operand->backward, {}, add, dx);
    add = true;
  }
  return dx;
}

void add_rows(const torch::Tensor& dy, float* sums) {
  const int64_t rows = dy.size(0), columns = dy.size(1);
  const auto* values = dy.const_data_ptr<float>();
  at::parallel_for(0, columns, kColumnGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = begin; c < end; ++c) sums[c] += values[r * columns + c];
    }
  });
}

void add_weight_gradients(const torch::Tensor& x, std::span<const WeightGradient> weights) {
  const auto& kernels = cpu::kernels();
  const int64_t inputs = x.size(1), width = kernels.panel_outputs;
  const torch::Tensor right = panels(std::min(kGradientRows, x.size(0)), inputs);
  for (int64_t row = 0; row < x.size(0); row += kGradientRows) {
    const int64_t rows = std::min(kGradientRows, x.size(0) - row);
    const auto* from = x.const_data_ptr<float>() + row * inputs;
    at::parallel_for(0, right.size(0), kColumnGrain / width + 1, [&](int64_t first, int64_t last) {
      kernels.pack_columns(from + first * width, inputs, rows,
                           std::min(last * width, inputs) - first * width,
                           right.data_ptr<float>() + first * rows * width);
    });
    for (const auto& [dy, sum] : weights) {
      const int64_t outputs = dy.size(1);
      multiply({.x = dy.const_data_ptr<float>() + row * outputs,
                .x_stride = outputs,
                .panels = right.const_data_ptr<float>(),
                .y = sum,
                .y_stride = inputs,
                .rows = outputs,
                .inputs = rows,
                .outputs = inputs,
                .add = true},
               Left::columns);
    }
  }
}

}  // namespace
}  // namespace fp32

const LinearProducts& fp32_linear_products() {
  static constexpr LinearProducts kProducts = {
      fp32::operand_like,        fp32::kPanelsOfPiece, fp32::pack,
      fp32::multiply_all,        fp32::input_gradient, fp32::add_rows,
      fp32::add_weight_gradients};
  return kProducts;
}

}  // namespace attn
