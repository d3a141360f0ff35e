#include "kernels/ops/bf16.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <optional>

#include "kernels/compute_scope.h"
#include "kernels/ops/bf16_products.h"
#include "kernels/ops/gradient_target.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Block sizes that keep reused operands in L2: rows (fewer if they are long) and columns of the
// result.
constexpr int64_t kRowElements = int64_t{1} << 18, kMostRows = 512, kColumns = 256;
// Rows per pass over a weight gradient, and outputs per thread.
constexpr int64_t kGradientRows = 512, kGradientOutputs = 512;

int64_t rows_of_block(int64_t width) {
  return std::clamp<int64_t>(kRowElements / width / 32 * 32, 64, kMostRows);
}

Bf16Weight operand_like(const torch::Tensor& weight, bool gradients) {
  return {
      .forward = bf16::tiles(weight.size(0), weight.size(1)),
      .backward = gradients ? bf16::tiles(weight.size(1), weight.size(0)) : torch::Tensor(),
  };
}

// Tile lines per unit of work.
constexpr int64_t kLinesOfPiece = 32;

// A unit of packing work: lines of outputs in `forward`, of inputs in `backward`.
struct Piece {
  const torch::Tensor* weight;
  const torch::Tensor* operand;
  bool forward;
  int64_t line;
};

void add_pieces(const torch::Tensor& weight, const Bf16Weight& operand,
                std::vector<Piece>& pieces) {
  for (const bool forward : {true, false}) {
    const torch::Tensor& tiles = forward ? operand.forward : operand.backward;
    if (!tiles.defined()) continue;
    for (int64_t line = 0; line < tiles.size(0); line += kLinesOfPiece) {
      pieces.push_back({&weight, &tiles, forward, line});
    }
  }
}

void fill(const Piece& piece) {
  const int64_t begin = piece.line * bf16::kTileLines;
  const int64_t end = begin + kLinesOfPiece * bf16::kTileLines;
  const int64_t outputs = piece.weight->size(0), inputs = piece.weight->size(1);
  uint16_t* to = bf16::data(*piece.operand) + piece.line * piece.operand->size(1) * bf16::kTileSize;
  if (piece.forward) {
    const int64_t rows = std::min(end, outputs) - begin;
    cpu::tile_kernels()->right_transposed(bf16::source(*piece.weight, begin, rows), to);
  } else {
    const cpu::TileSource all = bf16::source(*piece.weight, 0, outputs);
    cpu::tile_kernels()->right(bf16::columns(all, begin, std::min(end, inputs)), to);
  }
}

void fill(const std::vector<Piece>& pieces) {
  at::parallel_for(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fill(pieces[i]);
  });
}

// Linear layers of the same rows, of which backward needs the parameters beside the saved tensors.
struct LinearLayers : torch::CustomClassHolder {
  struct Layer : LinearWeights {
    std::shared_ptr<const Bf16Weight> operand;
    int64_t outputs() const { return weight.size(0); }
  };
  std::vector<Layer> layers;
  bool relu = false;  // and bf16 results
};

// y[m] = x W_mᵀ + b_m; x is packed once.
variable_list multiply_all(const torch::Tensor& x, const LinearLayers& all) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const int64_t count = x.size(0), block = rows_of_block(x.size(1));
  variable_list results;
  for (const auto& layer : all.layers) {
    results.push_back(torch::empty({count, layer.outputs()},
                                   x.options().dtype(all.relu ? torch::kBFloat16 : torch::kFloat)));
  }
  at::parallel_for(0, bf16::tile_count(count, block), 1, [&](int64_t first, int64_t last) {
    const torch::Tensor left = bf16::tiles(block, x.size(1));
    const torch::Tensor buffer = all.relu ? torch::empty({block, kColumns}) : torch::Tensor();
    for (int64_t b = first; b < last; ++b) {
      const int64_t row = b * block, rows = std::min(block, count - row);
      kernels.left(bf16::source(x, row, rows), bf16::data(left));
      for (size_t m = 0; m < results.size(); ++m) {
        const auto& layer = all.layers[m];
        const int64_t columns = layer.outputs(), start = row * columns;
        for (int64_t c = 0; c < columns; c += kColumns) {
          const int64_t width = std::min(kColumns, columns - c);
          float* out =
              all.relu ? buffer.data_ptr<float>() : results[m].data_ptr<float>() + start + c;
          const int64_t stride = all.relu ? kColumns : columns;
          bf16::multiply_columns(
              bf16::data(left), layer.operand->forward, rows, c, width, out, stride, false,
              layer.bias.defined() ? layer.bias.const_data_ptr<float>() + c : nullptr);
          if (!all.relu) continue;
          kernels.narrow(out, stride, rows, width, true, bf16::data(results[m]) + start + c,
                         columns);
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
  at::parallel_for(0, bf16::tile_count(count, block), 1, [&](int64_t first, int64_t last) {
    std::vector<torch::Tensor> left;
    for (const auto& layer : all.layers) left.push_back(bf16::tiles(block, layer.outputs()));
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
          bf16::multiply_columns(bf16::data(left[m]), all.layers[m].operand->backward, rows, c,
                                 width, out, stride, add);
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

// Minimum elements, or columns, per thread.
constexpr int64_t kElementGrain = 1 << 15, kColumnGrain = 64;

torch::Tensor relu_gradient(const torch::Tensor& y, const torch::Tensor& dy) {
  torch::Tensor passed = torch::empty_like(dy);
  at::parallel_for(0, dy.numel(), kElementGrain, [&](int64_t begin, int64_t end) {
    cpu::tile_kernels()->relu_gradient(bf16::data(y) + begin, bf16::data(dy) + begin,
                                       bf16::data(passed) + begin, end - begin);
  });
  return passed;
}

// sums[c] += Σ_r dy[r][c]
void add_rows(const torch::Tensor& dy, float* sums) {
  at::parallel_for(0, dy.size(1), kColumnGrain, [&](int64_t begin, int64_t end) {
    cpu::tile_kernels()->add_rows(bf16::columns(bf16::source(dy, 0, dy.size(0)), begin, end),
                                  sums + begin);
  });
}

class Bf16Linear : public torch::autograd::Function<Bf16Linear> {
 public:
  using Parameter = std::optional<torch::Tensor>;
  // Weights and biases are arguments so that autograd tracks them.
  static variable_list forward(AutogradContext* context, const torch::Tensor& x, const Parameter&,
                               const Parameter&, const Parameter&, const Parameter&,
                               const Parameter&, const Parameter&,
                               c10::intrusive_ptr<LinearLayers> all) {
    const variable_list results = multiply_all(x, *all);
    variable_list saved{x};
    if (all->relu) saved.push_back(results[0]);
    context->save_for_backward(saved);
    context->saved_data["layers"] = c10::IValue::make_capsule(std::move(all));
    context->set_materialize_grads(false);  // unused results cost nothing
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list dy) {
    const variable_list saved = context->get_saved_variables();
    const auto holder = context->saved_data["layers"].toCapsule();
    const auto& all = static_cast<const LinearLayers&>(*holder);
    const torch::Tensor& x = saved[0];
    variable_list out(2 + 2 * kMaxLayers);
    if (std::none_of(dy.begin(), dy.end(), [](const auto& d) { return d.defined(); })) return out;
    for (torch::Tensor& gradient : dy) {
      if (gradient.defined()) gradient = gradient.contiguous();
    }
    if (all.relu) dy[0] = relu_gradient(saved[1], dy[0]);
    // Autograd numbers only defined arguments.
    size_t edge = 0;
    if (context->needs_input_grad(edge++)) out[0] = input_gradient(x, all, dy);
    std::vector<bf16::WeightGradient> weights;
    for (size_t m = 0; m < all.layers.size(); ++m) {
      const auto& layer = all.layers[m];
      const bool wants_weight = context->needs_input_grad(edge++);
      const bool wants_bias = layer.bias.defined() && context->needs_input_grad(edge++);
      if (!dy[m].defined()) continue;
      if (wants_weight) {
        const GradientTarget target(layer.weight);
        weights.push_back({dy[m], target.into.data_ptr<float>()});
        out[1 + 2 * m] = target.to_return;
      }
      if (wants_bias) {
        const GradientTarget target(layer.bias);
        add_rows(dy[m], target.into.data_ptr<float>());
        out[2 + 2 * m] = target.to_return;
      }
    }
    bf16::add_weight_gradients(x, weights);
    return out;
  }

  static constexpr size_t kMaxLayers = 3;
};

variable_list bf16_linear(const torch::Tensor& x, std::span<const LinearWeights> layers,
                          bool relu) {
  TORCH_CHECK(!layers.empty() && layers.size() <= Bf16Linear::kMaxLayers, layers.size(),
              " linear layers");
  auto all = c10::make_intrusive<LinearLayers>();
  all->relu = relu;
  for (const LinearWeights& layer : layers) {
    TORCH_CHECK(
        x.dim() == 2 && layer.weight.dim() == 2 && x.size(1) == layer.weight.size(1) &&
            (!layer.bias.defined() || layer.bias.sizes() == layer.weight.sizes().slice(0, 1)),
        "linear: rows ", x.sizes(), ", weight ", layer.weight.sizes());
    TORCH_CHECK(x.is_cpu() &&
                    (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16) &&
                    (!layer.bias.defined() ||
                     (layer.bias.is_contiguous() && layer.bias.scalar_type() == torch::kFloat32)),
                "bf16 products require float32 or bf16 rows and a float32 bias on a CPU");
    all->layers.push_back({layer, ComputeScope::bf16_weights()->of(layer.weight)});
  }
  const auto weight = [&](size_t m) {
    return m < layers.size() ? Bf16Linear::Parameter(layers[m].weight) : std::nullopt;
  };
  const auto bias = [&](size_t m) {
    return m < layers.size() && layers[m].bias.defined() ? Bf16Linear::Parameter(layers[m].bias)
                                                         : std::nullopt;
  };
  return Bf16Linear::apply(x.contiguous(), weight(0), bias(0), weight(1), bias(1), weight(2),
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
    at::parallel_for(0, tile_count(inputs, kTileLines), kColumnGrain / kTileLines,
                     [&](int64_t first, int64_t last) {
                       kernels.right(columns(source(x, row, rows), first * kTileLines,
                                             std::min(last * kTileLines, inputs)),
                                     data(right) + first * inner_tiles * kTileSize);
                     });
    for (const auto& [dy, gradient] : weights) {
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

}  // namespace bf16

bool has_bf16_tiles() {
  return cpu::tile_kernels() != nullptr;
}

std::shared_ptr<const Bf16Weight> Bf16Weights::of(const torch::Tensor& weight) {
  TORCH_CHECK(weight.is_cpu() && weight.scalar_type() == torch::kFloat32 && weight.is_contiguous(),
              "bf16 products require contiguous float32 weights on a CPU");
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[weight.const_data_ptr()];
  if (!entry.operand || entry.weight.sizes() != weight.sizes()) {
    entry.weight = weight.detach();
    entry.operand = std::make_shared<Bf16Weight>(operand_like(weight, gradients_));
    std::vector<Piece> pieces;
    add_pieces(weight, *entry.operand, pieces);
    fill(pieces);
  }
  return entry.operand;
}

void Bf16Weights::refresh() {
  std::vector<Piece> pieces;
  for (const auto& [where, entry] : entries_) add_pieces(entry.weight, *entry.operand, pieces);
  fill(pieces);
}

std::vector<torch::Tensor> linear_all(const torch::Tensor& x_NI,
                                      std::span<const LinearWeights> layers) {
  if (ComputeScope::bf16_weights()) return bf16_linear(x_NI, layers, false);
  std::vector<torch::Tensor> results;
  for (const LinearWeights& layer : layers)
    results.push_back(torch::linear(x_NI, layer.weight, layer.bias));
  return results;
}

torch::Tensor linear(const torch::Tensor& x_NI, const LinearWeights& layer) {
  return linear_all(x_NI, {&layer, 1})[0];
}

torch::Tensor linear_relu(const torch::Tensor& x_NI, const LinearWeights& layer) {
  if (ComputeScope::bf16_weights()) return bf16_linear(x_NI, {&layer, 1}, true)[0];
  return torch::relu(torch::linear(x_NI, layer.weight, layer.bias));
}

}  // namespace attn
