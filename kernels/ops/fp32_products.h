// Shared by linear() and the LSTM: float32 operands in panels and blocked products. Internal to
// kernels/.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn::fp32 {

/// Room for a right operand [inner, columns] as panels: [panels, inner, columns of a panel].
inline torch::Tensor panels(int64_t inner, int64_t columns) {
  const auto& kernels = cpu::kernels();
  return torch::empty({kernels.panels(columns), inner, kernels.panel_outputs});
}

/// Rows of a left operand that stay in L2 while all panels pass.
inline int64_t rows_of_block(int64_t width) {
  constexpr int64_t kElements = int64_t{1} << 16, kRows = 96;
  return std::max(kRows, kElements / std::max<int64_t>(width, 1) / kRows * kRows);
}

/// How x of a product is stored.
enum class Left { rows, columns };

/// The product of all rows with all panels, in blocks of rows on torch's threads; of few rows, also
/// in groups of panels. As columns, x is stored as [inputs, rows], x_stride floats between inputs.
inline void multiply(const cpu::PanelProduct& product, Left left = Left::rows) {
  const auto& kernels = cpu::kernels();
  const int64_t block = rows_of_block(product.inputs), panels = kernels.panels(product.outputs);
  const int64_t blocks = (product.rows + block - 1) / block, threads = at::get_num_threads();
  constexpr int64_t kWorthAThread = 1 << 18;  // multiplications
  const int64_t work = product.rows * product.inputs * product.outputs / kWorthAThread;
  const int64_t groups = left == Left::rows && blocks < threads
                             ? std::clamp<int64_t>(work, 1, std::min(panels, threads))
                             : 1;
  at::parallel_for(0, blocks * groups, 1, [&](int64_t first, int64_t last) {
    torch::Tensor tiles;
    if (left == Left::columns) tiles = torch::empty({block, product.inputs});
    for (int64_t unit = first; unit < last; ++unit) {
      cpu::PanelProduct part = product;
      const int64_t row = unit / groups * block, group = unit % groups;
      part.rows = std::min(block, product.rows - row);
      part.y += row * part.y_stride;
      if (left == Left::rows) {
        part.x += row * part.x_stride;
      } else {
        kernels.pack_tiles(part.x + row, part.x_stride, part.inputs, part.rows,
                           tiles.data_ptr<float>());
        part.x = tiles.const_data_ptr<float>();
        part.tiled = true;
      }
      kernels.multiply_panels(part, panels * group / groups, panels * (group + 1) / groups);
    }
  });
}

}  // namespace attn::fp32
