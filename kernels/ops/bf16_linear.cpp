// linear() in bf16 tiles.
#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/ops/bf16_products.h"
#include "kernels/ops/linear_products.h"

namespace attn {
namespace bf16 {
namespace {

using torch::autograd::variable_list;

// Block sizes that keep reused operands in L2: rows (fewer if they are long) and columns of the
// result.
constexpr int64_t kRowElements = int64_t{1} << 18, kMaxRows = 512, kColumns = 256;
// Rows per pass over a weight gradient, and outputs per thread.
constexpr int64_t kGradientRows = 512, kGradientOutputs = 512;

int64_t rows_of_block(int64_t width) {
  return std::clamp<int64_t>(kRowElements / width / 32 * 32, 64, kMaxRows);
}

PackedWeight operand_like(const torch::Tensor& weight, bool gradients) {
  return {
      .forward = tiles(weight.size(0), weight.size(1)),
      .backward = gradients ? tiles(weight.size(1), weight.size(0)) : torch::Tensor(),
  };
}

// Tile lines per unit of work.
constexpr int64_t kLinesOfPiece = 32;

void pack(const PackingPiece& piece) {
  const int64_t begin = piece.first * kTileLines;
  const int64_t end = begin + kLinesOfPiece * kTileLines;
  const int64_t outputs = piece.weight->size(0), inputs = piece.weight->size(1);
  uint16_t* to = data(*piece.operand) + piece.first * piece.operand->size(1) * kTileSize;
  if (piece.forward) {
    const int64_t rows = std::min(end, outputs) - begin;
    cpu::tile_kernels()->right_transposed(source(*piece.weight, begin, rows), to);
  } else {
    const cpu::TileSource all = source(*piece.weight, 0, outputs);
    cpu::tile_kernels()->right(columns(all, begin, std::min(end, inputs)), to);
  }
}

// y[m] = x W_mᵀ + b_m; x is packed once.
variable_list multiply_all(const torch::Tensor& x, const LinearLayers& all) {
  const int64_t count = x.size(0), block = rows_of_block(x.size(1));
  variable_list results;
  for (const auto& layer : all.layers) {
    results.push_back(torch::empty({count, layer.outputs()}, x.options().dtype(torch::kFloat)));
  }
  at::parallel_for(0, tile_count(count, block), 1, [&](int64_t first, int64_t last) {
    const torch::Tensor left = tiles(block, x.size(1));
    for (int64_t b = first; b < last; ++b) {
      const int64_t row = b * block, rows = std::min(block, count - row);
      cpu::tile_kernels()->left(source(x, row, rows), data(left));
      for (size_t m = 0; m < results.size(); ++m) {
        const auto& layer = all.layers[m];
        const float* bias = layer.bias.defined() ? layer.bias.const_data_ptr<float>() : nullptr;
        const int64_t columns = layer.outputs();
        float* out = results[m].data_ptr<float>() + row * columns;
        for (int64_t c = 0; c < columns; c += kColumns) {
          multiply_columns(data(left), layer.operand->forward, rows, c,
                           std::min(kColumns, columns - c), out + c, columns, /*add=*/false,
                           bias ? bias + c : nullptr);
        }
      }
    }
  });
  return results;
}

// dx = Σ_m dy[m] W_m, in the type of x; undefined dy are zero.
torch::Tensor input_gradient(const torch::Tensor& x, const LinearLayers& all,
                             const variable_list& dy) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const torch::Tensor dx = torch::empty_like(x);
  const bool narrow = dx.scalar_type() == torch::kBFloat16;
  const int64_t count = x.size(0), columns = x.size(1);
  int64_t widest = 0;
  for (const auto& layer : all.layers) widest = std::max(widest, layer.outputs());
  const int64_t block = rows_of_block(widest);
  at::parallel_for(0, tile_count(count, block), 1, [&](int64_t first, int64_t last) {
    std::vector<torch::Tensor> left;
    for (const auto& layer : all.layers) left.push_back(tiles(block, layer.outputs()));
    const torch::Tensor buffer = narrow ? torch::empty({block, kColumns}) : torch::Tensor();
    for (int64_t b = first; b < last; ++b) {
      const int64_t row = b * block, rows = std::min(block, count - row);
      for (size_t m = 0; m < dy.size(); ++m) {
        if (dy[m].defined()) kernels.left(source(dy[m], row, rows), data(left[m]));
      }
      for (int64_t c = 0; c < columns; c += kColumns) {
        const int64_t width = std::min(kColumns, columns - c);
        float* out = narrow ? buffer.data_ptr<float>() : dx.data_ptr<float>() + row * columns + c;
        const int64_t stride = narrow ? kColumns : columns;
        bool add = false;
        for (size_t m = 0; m < dy.size(); ++m) {
          if (!dy[m].defined()) continue;
          multiply_columns(data(left[m]), all.layers[m].operand->backward, rows, c, width, out,
                           stride, add);
          add = true;
        }
        if (narrow) {
          kernels.narrow(out, stride, rows, width, data(dx) + row * columns + c, columns);
        }
      }
    }
  });
  return dx;
}

// Minimum columns per thread.
constexpr int64_t kColumnGrain = 64;

// sums[c] += Σ_r dy[r][c]
void add_rows(const torch::Tensor& dy, float* sums) {
  at::parallel_for(0, dy.size(1), kColumnGrain, [&](int64_t begin, int64_t end) {
    cpu::tile_kernels()->add_rows(columns(source(dy, 0, dy.size(0)), begin, end), sums + begin);
  });
}

void add_weight_gradients(const torch::Tensor& x, std::span<const WeightGradient> weights) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const int64_t inputs = x.size(1);
  const torch::Tensor right = tiles(inputs, kGradientRows);
  for (int64_t row = 0; row < x.size(0); row += kGradientRows) {
    const int64_t rows = std::min(kGradientRows, x.size(0) - row);
    const int64_t inner_tiles = tile_count(rows, kTileInner);
    at::parallel_for(0, tile_count(inputs, kTileLines), kColumnGrain / kTileLines,
                     [&](int64_t first, int64_t last) {
                       kernels.right(columns(source(x, row, rows), first * kTileLines,
                                             std::min(last * kTileLines, inputs)),
                                     data(right) + first * inner_tiles * kTileSize);
                     });
    for (const auto& weight : weights) {  // named: clang's OpenMP captures no structured bindings
      const torch::Tensor& dy = weight.dy;
      float* const gradient = weight.sum;
      const int64_t outputs = dy.size(1);
      const int64_t threads = at::in_parallel_region() ? 1 : at::get_num_threads();
      const int64_t share =
          std::min(kGradientOutputs, tile_count(tile_count(outputs, threads), 32) * int64_t{32});
      at::parallel_for(0, tile_count(outputs, share), 1, [&](int64_t first, int64_t last) {
        const torch::Tensor left = tiles(share, kGradientRows);
        for (int64_t s = first; s < last; ++s) {
          const cpu::TileSource from =
              columns(source(dy, row, rows), s * share, std::min((s + 1) * share, outputs));
          kernels.left_transposed(from, data(left));
          kernels.multiply({.left = data(left),
                            .right = data(right),
                            .right_stride = inner_tiles,
                            .rows = from.columns,
                            .inner_tiles = inner_tiles,
                            .columns = inputs,
                            .out = gradient + s * share * inputs,
                            .out_stride = inputs,
                            .add = true});
        }
      });
    }
  }
}

}  // namespace
}  // namespace bf16

const LinearProducts& bf16_linear_products() {
  static constexpr LinearProducts kProducts = {
      bf16::operand_like,        bf16::kLinesOfPiece,  bf16::pack,
      bf16::multiply_all,        bf16::input_gradient, bf16::add_rows,
      bf16::add_weight_gradients};
  return kProducts;
}

}  // namespace attn
