#include "kernels/bf16.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <optional>

#include "kernels/bf16_products.h"
#include "kernels/gradient_target.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Blocks of a product, so that what is used again and again stays in the second cache: so many
// rows, fewer where they are long, and so many columns of the result.
constexpr int64_t kRowElements = int64_t{1} << 18, kMostRows = 512, kColumns = 256;
// Rows that a weight's gradient takes at a time, and outputs of a thread's share.
constexpr int64_t kGradientRows = 512, kGradientOutputs = 512;

int64_t rows_of_block(int64_t width) {
  return std::clamp<int64_t>(kRowElements / width / 32 * 32, 64, kMostRows);
}

Bf16Weight operand_like(const torch::Tensor& weight) {
  return {bf16::tiles(weight.size(0), weight.size(1)), bf16::tiles(weight.size(1), weight.size(0))};
}

void fill(const Bf16Weight& operand, const torch::Tensor& weight) {
  const cpu::TileSource from = bf16::source(weight, 0, weight.size(0));
  cpu::tile_kernels()->right_transposed(from, bf16::data(operand.forward));
  cpu::tile_kernels()->right(from, bf16::data(operand.backward));
}

// A block of `rows` rows of x, as tiles in `left`, times an operand: c becomes the first of so many
// columns of the result.
void multiply_columns(const torch::Tensor& left, const torch::Tensor& operand, int64_t rows,
                      int64_t c, int64_t columns, float* out, int64_t out_stride, bool add,
                      const float* bias = nullptr) {
  const int64_t inner_tiles = operand.size(1);
  cpu::tile_kernels()->multiply(
      {.left = bf16::data(left),
       .right = bf16::data(operand) + c / bf16::kTileLines * inner_tiles * bf16::kTileSize,
       .left_stride = inner_tiles,
       .right_stride = inner_tiles,
       .rows = rows,
       .inner_tiles = inner_tiles,
       .columns = columns,
       .out = out,
       .out_stride = out_stride,
       .add = add,
       .bias = bias});
}

// Affine maps of the same rows, of which backward needs the parameters beside the saved tensors.
struct AffineMaps : torch::CustomClassHolder {
  struct Map {
    torch::Tensor weight, bias;
    std::shared_ptr<const Bf16Weight> operand;
    int64_t outputs() const { return weight.size(0); }
  };
  std::vector<Map> maps;
  bool relu = false;  // and bf16 results
};

// y[m] = x W_mᵀ + b_m: x becomes tiles once.
variable_list multiply_all(const torch::Tensor& x, const AffineMaps& all) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const int64_t count = x.size(0), block = rows_of_block(x.size(1));
  variable_list results;
  for (const auto& map : all.maps) {
    results.push_back(torch::empty({count, map.outputs()},
                                   x.options().dtype(all.relu ? torch::kBFloat16 : torch::kFloat)));
  }
  at::parallel_for(0, bf16::tile_count(count, block), 1, [&](int64_t first, int64_t last) {
    const torch::Tensor left = bf16::tiles(block, x.size(1));
    const torch::Tensor buffer = all.relu ? torch::empty({block, kColumns}) : torch::Tensor();
    for (int64_t b = first; b < last; ++b) {
      const int64_t row = b * block, rows = std::min(block, count - row);
      kernels.left(bf16::source(x, row, rows), bf16::data(left));
      for (size_t m = 0; m < results.size(); ++m) {
        const auto& map = all.maps[m];
        const int64_t columns = map.outputs(), start = row * columns;
        for (int64_t c = 0; c < columns; c += kColumns) {
          const int64_t width = std::min(kColumns, columns - c);
          float* out =
              all.relu ? buffer.data_ptr<float>() : results[m].data_ptr<float>() + start + c;
          const int64_t stride = all.relu ? kColumns : columns;
          multiply_columns(left, map.operand->forward, rows, c, width, out, stride, false,
                           map.bias.defined() ? map.bias.const_data_ptr<float>() + c : nullptr);
          if (!all.relu) continue;
          kernels.narrow(out, stride, rows, width, true, bf16::data(results[m]) + start + c,
                         columns);
        }
      }
    }
  });
  return results;
}

// dx = Σ_m dy[m] W_m, of the type of x; undefined dy are zero.
torch::Tensor input_gradient(const torch::Tensor& x, const AffineMaps& all,
                             const variable_list& dy) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const torch::Tensor dx = torch::empty_like(x);
  const bool narrow = dx.scalar_type() == torch::kBFloat16;
  const int64_t count = x.size(0), columns = x.size(1);
  int64_t widest = 0;
  for (const auto& map : all.maps) widest = std::max(widest, map.outputs());
  const int64_t block = rows_of_block(widest);
  at::parallel_for(0, bf16::tile_count(count, block), 1, [&](int64_t first, int64_t last) {
    std::vector<torch::Tensor> left;
    for (const auto& map : all.maps) left.push_back(bf16::tiles(block, map.outputs()));
    const torch::Tensor buffer = narrow ? torch::empty({block, kColumns}) : torch::Tensor();
    for (int64_t b = first; b < last; ++b) {
      const int64_t row = b * block, rows = std::min(block, count - row);
      for (size_t m = 0; m < dy.size(); ++m) {
        if (dy[m].defined()) kernels.left(bf16::source(dy[m], row, rows), bf16::data(left[m]));
      }
      for (int64_t c = 0; c < columns; c += kColumns) {
        const int64_t width = std::min(kColumns, columns - c);
        float* out = narrow ? buffer.data_ptr<float>() : dx.data_ptr<float>() + row * columns + c;
        const int64_t stride = narrow ? kColumns : columns;
        bool add = false;
        for (size_t m = 0; m < dy.size(); ++m) {
          if (!dy[m].defined()) continue;
          multiply_columns(left[m], all.maps[m].operand->backward, rows, c, width, out, stride,
                           add);
          add = true;
        }
        if (narrow) {
          kernels.narrow(out, stride, rows, width, false, bf16::data(dx) + row * columns + c,
                         columns);
        }
      }
    }
  });
  return dx;
}

class Bf16Affine : public torch::autograd::Function<Bf16Affine> {
 public:
  using Parameter = std::optional<torch::Tensor>;
  // Weights and biases are arguments for autograd to see them.
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const Parameter&,
                               const Parameter&, const Parameter&, const Parameter&,
                               const Parameter&, const Parameter&,
                               c10::intrusive_ptr<AffineMaps> all) {
    const variable_list results = multiply_all(x, *all);
    variable_list saved{x};
    if (all->relu) saved.push_back(results[0]);
    context->save_for_backward(saved);
    context->saved_data["maps"] = c10::IValue::make_capsule(std::move(all));
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list dy) {
    const variable_list saved = context->get_saved_variables();
    const auto holder = context->saved_data["maps"].toCapsule();
    const auto& all = static_cast<const AffineMaps&>(*holder);
    const torch::Tensor& x = saved[0];
    for (torch::Tensor& gradient : dy) {
      if (gradient.defined()) gradient = gradient.contiguous();
    }
    if (all.relu) {
      const torch::Tensor passed = torch::empty_like(dy[0]);
      cpu::tile_kernels()->relu_gradient(bf16::data(saved[1]), bf16::data(dy[0]),
                                         bf16::data(passed), passed.numel());
      dy[0] = passed;
    }
    variable_list out(2 + 2 * kMostMaps);
    if (context->needs_input_grad(0)) out[0] = input_gradient(x, all, dy);
    std::vector<bf16::WeightGradient> weights;
    for (size_t m = 0; m < all.maps.size(); ++m) {
      const auto& map = all.maps[m];
      if (!dy[m].defined()) continue;
      if (map.weight.requires_grad()) {
        const GradientTarget target(map.weight);
        weights.push_back({dy[m], target.sum.data_ptr<float>()});
        out[1 + 2 * m] = target.to_return;
      }
      if (map.bias.defined() && map.bias.requires_grad()) {
        const GradientTarget target(map.bias);
        cpu::tile_kernels()->add_rows(bf16::source(dy[m], 0, dy[m].size(0)),
                                      target.sum.data_ptr<float>());
        out[2 + 2 * m] = target.to_return;
      }
    }
    bf16::add_weight_gradients(x, weights);
    return out;
  }

  static constexpr size_t kMostMaps = 3;
};

thread_local Bf16Weights* current = nullptr;

variable_list bf16_affine(const torch::Tensor& x, std::span<const Affine> maps, bool relu) {
  TORCH_CHECK(!maps.empty() && maps.size() <= Bf16Affine::kMostMaps, maps.size(), " affine maps");
  auto all = c10::make_intrusive<AffineMaps>();
  all->relu = relu;
  for (const Affine& map : maps) {
    TORCH_CHECK(x.dim() == 2 && map.weight.dim() == 2 && x.size(1) == map.weight.size(1),
                "affine map of rows ", x.sizes(), " by a weight ", map.weight.sizes());
    all->maps.push_back({map.weight, map.bias, current->of(map.weight)});
  }
  const auto weight = [&](size_t m) {
    return m < maps.size() ? Bf16Affine::Parameter(maps[m].weight) : std::nullopt;
  };
  const auto bias = [&](size_t m) {
    return m < maps.size() && maps[m].bias.defined() ? Bf16Affine::Parameter(maps[m].bias)
                                                     : std::nullopt;
  };
  return Bf16Affine::apply(x.contiguous(), weight(0), bias(0), weight(1), bias(1), weight(2),
                           bias(2), all);
}

}  // namespace

namespace bf16 {

void add_weight_gradients(const torch::Tensor& x, std::span<const WeightGradient> weights) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const int64_t inputs = x.size(1);
  const torch::Tensor right = tiles(inputs, kGradientRows);
  for (int64_t row = 0; row < x.size(0); row += kGradientRows) {
    const int64_t rows = std::min(kGradientRows, x.size(0) - row);
    const int64_t inner_tiles = tile_count(rows, kTileInner);
    kernels.right(source(x, row, rows), data(right));
    for (const auto& [dy, gradient] : weights) {
      const int64_t outputs = dy.size(1);
      const int64_t share =
          std::min(kGradientOutputs,
                   tile_count(tile_count(outputs, at::get_num_threads()), 32) * int64_t{32});
      at::parallel_for(0, tile_count(outputs, share), 1, [&](int64_t first, int64_t last) {
        const torch::Tensor left = tiles(share, kGradientRows);
        for (int64_t s = first; s < last; ++s) {
          cpu::TileSource from = source(dy, row, rows);
          from.columns = std::min(share, outputs - s * share);
          const int64_t offset = s * share * static_cast<int64_t>(dy.element_size());
          from.data = static_cast<const char*>(from.data) + offset;
          kernels.left_transposed(from, data(left));
          kernels.multiply({.left = data(left),
                            .right = data(right),
                            .left_stride = inner_tiles,
                            .right_stride = inner_tiles,
                            .rows = from.columns,
                            .inner_tiles = inner_tiles,
                            .columns = inputs,
                            .out = gradient + s * share * inputs,
                            .out_stride = inputs,
                            .add = true,
                            .bias = nullptr});
        }
      });
    }
  }
}

}  // namespace bf16

bool has_bf16_tiles() {
  return cpu::tile_kernels() != nullptr;
}

std::shared_ptr<const Bf16Weight> Bf16Weights::of(const torch::Tensor& weight) {
  TORCH_CHECK(weight.is_cpu() && weight.scalar_type() == torch::kFloat32 && weight.is_contiguous(),
              "bf16 products want contiguous float32 weights on a CPU");
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[weight.const_data_ptr()];
  if (!entry.operand || entry.weight.sizes() != weight.sizes()) {
    entry.weight = weight.detach();
    entry.operand = std::make_shared<Bf16Weight>(operand_like(weight));
    fill(*entry.operand, weight);
  }
  return entry.operand;
}

void Bf16Weights::refresh() {
  std::vector<const Entry*> all;
  for (const auto& [where, entry] : entries_) all.push_back(&entry);
  at::parallel_for(0, static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fill(*all[i]->operand, all[i]->weight);
  });
}

Bf16Scope::Bf16Scope(Bf16Weights& weights) : outer_(current) {
  TORCH_CHECK(has_bf16_tiles(), "this processor has no bf16 tiles");
  current = &weights;
}

Bf16Scope::~Bf16Scope() {
  current = outer_;
}

Bf16Weights* Bf16Scope::weights() {
  return current;
}

std::vector<torch::Tensor> affine_all(const torch::Tensor& x_NI, std::span<const Affine> maps) {
  if (current) return bf16_affine(x_NI, maps, false);
  std::vector<torch::Tensor> results;
  for (const Affine& map : maps) results.push_back(torch::linear(x_NI, map.weight, map.bias));
  return results;
}

torch::Tensor affine(const torch::Tensor& x_NI, const Affine& map) {
  return affine_all(x_NI, {&map, 1})[0];
}

torch::Tensor affine_relu(const torch::Tensor& x_NI, const Affine& map) {
  if (current) return bf16_affine(x_NI, {&map, 1}, true)[0];
  return torch::relu(torch::linear(x_NI, map.weight, map.bias));
}

}  // namespace attn
