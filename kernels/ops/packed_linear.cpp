#include "kernels/ops/packed_linear.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/cpu/int8.h"
#include "kernels/cpu/table.h"
#include "kernels/ops/bf16_products.h"
#include "kernels/ops/linear.h"

namespace attn {
namespace {

constexpr int64_t kWorthAThread = 1 << 16;      // multiplications
constexpr int64_t kPanelsWorthAThread = 8;      // of weights, to pack
constexpr int64_t kInt8WorthAThread = 1 << 18;  // 8-bit integers
// Tiles: minimum products per thread, and columns per unit of work.
constexpr int64_t kTilesWorthAThread = 256, kColumns = 256;

// Thread-local buffer for the tiles of the left operand.
uint16_t* room_for_tiles(int64_t lines, int64_t inner) {
  thread_local torch::Tensor kept;
  const int64_t needed = bf16::tile_count(lines, bf16::kTileLines) *
                         bf16::tile_count(inner, bf16::kTileInner) * bf16::kTileSize;
  if (!kept.defined() || kept.numel() < needed) kept = bf16::tiles(lines, inner);
  return bf16::data(kept);
}

// Thread-local buffers for quantized rows.
struct Int8Buffer {
  std::vector<uint32_t> words;
  std::vector<float> scales;
  std::vector<int32_t> sums;
};

cpu::Int8Rows room_for_int8(int64_t rows, int64_t inputs) {
  thread_local Int8Buffer kept;
  const auto count = static_cast<size_t>(rows);
  const auto words = count * static_cast<size_t>(cpu::int8_words(inputs));
  if (kept.words.size() < words) kept.words.resize(words);
  if (kept.scales.size() < count) {
    kept.scales.resize(count);
    kept.sums.resize(count);
  }
  return {kept.words.data(), kept.scales.data(), kept.sums.data()};
}

}  // namespace

PackedLinear::PackedLinear(const torch::Tensor& weight, const torch::Tensor& bias, WeightType type)
    : inputs_(weight.size(1)), outputs_(weight.size(0)), type_(type) {
  TORCH_CHECK(weight.dim() == 2 && weight.is_cpu() && weight.scalar_type() == torch::kFloat32,
              "PackedLinear requires a float32 matrix on the CPU, got ", weight.sizes());
  const torch::Tensor rows = weight.detach().contiguous();
  const auto& kernels = cpu::kernels();
  const float* values = rows.const_data_ptr<float>();
  switch (type) {
    case WeightType::fp32:
      panels_ = torch::empty({kernels.panels(outputs_) * kernels.panel_outputs * inputs_});
      at::parallel_for(0, kernels.panels(outputs_), kPanelsWorthAThread,
                       [&](int64_t begin, int64_t end) {
                         const int64_t row = begin * kernels.panel_outputs;
                         kernels.pack_panels(values + row * inputs_,
                                             std::min(end * kernels.panel_outputs, outputs_) - row,
                                             inputs_, panels_.data_ptr<float>() + row * inputs_);
                       });
      break;
    case WeightType::bf16:
      TORCH_CHECK(has_bf16_tiles(),
                  "this processor does not support bf16 products (AVX-512 BF16 or AMX)");
      panels_ = bf16::tiles(outputs_, inputs_);
      cpu::tile_kernels()->right_transposed(bf16::source(rows, 0, outputs_), bf16::data(panels_));
      break;
    case WeightType::int8: {
      const int64_t width = multiplies_int8() ? cpu::kInt8Panel : kernels.panel_outputs;
      const int64_t padded = cpu::int8_panels(outputs_, width) * width;
      panels_ = torch::empty({padded * cpu::int8_words(inputs_)}, torch::kUInt32);
      scales_.resize(static_cast<size_t>(padded));
      cpu::pack_int8(values, outputs_, inputs_, width, panels_.data_ptr<uint32_t>(),
                     scales_.data());
      break;
    }
  }
  if (!bias.defined()) return;
  TORCH_CHECK(bias.numel() == outputs_, "PackedLinear: bias of ", bias.numel(), " for ", outputs_,
              " outputs");
  const torch::Tensor row = bias.detach().contiguous();
  bias_.assign(row.const_data_ptr<float>(), row.const_data_ptr<float>() + outputs_);
}

bool PackedLinear::multiplies_int8() const {
  return type_ == WeightType::int8 && cpu::int8_kernels() != nullptr && inputs_ <= cpu::kInt8Inputs;
}

void PackedLinear::apply(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
                         bool relu) const {
  if (type_ == WeightType::bf16) return apply_tiles(x, x_stride, rows, y, y_stride, relu);
  if (multiplies_int8()) return apply_int8(x, x_stride, rows, y, y_stride, relu);
  const bool int8 = type_ == WeightType::int8;
  const auto& kernels = cpu::kernels();
  const cpu::PanelProduct product{
      .x = x,
      .x_stride = x_stride,
      .panels = int8 ? nullptr : panels_.const_data_ptr<float>(),
      .int8_panels = int8 ? panels_.const_data_ptr<uint32_t>() : nullptr,
      .scales = int8 ? scales_.data() : nullptr,
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

void PackedLinear::apply_tiles(const float* x, int64_t x_stride, int64_t rows, float* y,
                               int64_t y_stride, bool relu) const {
  uint16_t* left = room_for_tiles(rows, inputs_);
  cpu::tile_kernels()->left(
      {.data = x, .stride = x_stride, .rows = rows, .columns = inputs_, .narrow = false}, left);
  const int64_t work = std::max<int64_t>(1, bf16::tile_count(rows, bf16::kTileLines) *
                                                panels_.size(1) * (kColumns / bf16::kTileLines));
  at::parallel_for(
      0, bf16::tile_count(outputs_, kColumns), std::max<int64_t>(1, kTilesWorthAThread / work),
      [&](int64_t begin, int64_t end) {
        for (int64_t c = begin * kColumns; c < std::min(end * kColumns, outputs_); c += kColumns) {
          const int64_t columns = std::min(kColumns, outputs_ - c);
          bf16::multiply_columns(left, panels_, rows, c, columns, y + c, y_stride,
                                 /*add=*/false, bias_.empty() ? nullptr : bias_.data() + c);
          if (!relu) continue;
          for (int64_t r = 0; r < rows; ++r) {
            float* row = y + r * y_stride + c;
            for (int64_t i = 0; i < columns; ++i) row[i] = std::max(row[i], 0.0f);
          }
        }
      });
}

void PackedLinear::apply_int8(const float* x, int64_t x_stride, int64_t rows, float* y,
                              int64_t y_stride, bool relu) const {
  const cpu::Int8Kernels& kernels = *cpu::int8_kernels();
  const cpu::Int8Product product{.x = room_for_int8(rows, inputs_),
                                 .panels = panels_.const_data_ptr<uint32_t>(),
                                 .scales = scales_.data(),
                                 .bias = bias_.empty() ? nullptr : bias_.data(),
                                 .y = y,
                                 .y_stride = y_stride,
                                 .rows = rows,
                                 .inputs = inputs_,
                                 .outputs = outputs_,
                                 .relu = relu};
  kernels.quantize(x, x_stride, rows, inputs_, product.x);
  const int64_t work = std::max<int64_t>(1, rows * inputs_ * cpu::kInt8Panel);
  at::parallel_for(0, cpu::int8_panels(outputs_, cpu::kInt8Panel),
                   std::max<int64_t>(1, kInt8WorthAThread / work),
                   [&](int64_t begin, int64_t end) { kernels.multiply(product, begin, end); });
}

}  // namespace attn
