// The pre-softmax projection and the smoothed loss on bf16 tiles. Logits are computed twice, in
// blocks that fit into L2: for log Σ exp of each row, and again for the gradient. Recomputation is
// cheaper than storing all logits.
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/compute_scope.h"
#include "kernels/ops/bf16_products.h"
#include "kernels/ops/gradient_target.h"
#include "kernels/ops/linear.h"
#include "kernels/ops/smoothed_loss.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRows = 256, kClasses = 256;

// Saved for backward.
struct LossState : torch::CustomClassHolder {
  torch::Tensor weight, targets_N, x_tiles;
  std::shared_ptr<const PackedWeight> operand;
  cpu::SmoothedTargets targets{};
  std::vector<float> log_sums;

  int64_t rows() const { return targets_N.numel(); }
  int64_t classes() const { return weight.size(0); }
  int64_t width() const { return weight.size(1); }
};

// logits[r][c] of rows [row, row + rows) and classes [c, c + classes), kClasses floats a row.
void make_logits(const LossState& state, int64_t row, int64_t rows, int64_t c, int64_t classes,
                 float* logits) {
  const int64_t line = state.x_tiles.size(1) * bf16::kTileSize;
  bf16::multiply_columns(bf16::data(state.x_tiles) + row / bf16::kTileLines * line,
                         state.operand->forward, rows, c, classes, logits, kClasses, false);
}

// Sets each row's log Σ exp and returns the sums over rows of the smoothed loss and of -log p.
std::pair<double, double> sum_losses(LossState& state) {
  const int64_t count = state.rows();
  const int64_t* target = state.targets_N.const_data_ptr<int64_t>();
  const cpu::SmoothedTargets& q = state.targets;
  state.log_sums.resize(static_cast<size_t>(count));
  std::vector<std::pair<double, double>> sums(static_cast<size_t>(bf16::tile_count(count, kRows)));
  at::parallel_for(0, static_cast<int64_t>(sums.size()), 1, [&](int64_t first, int64_t last) {
    const torch::Tensor buffer = torch::empty({kRows, kClasses});
    float* logits = buffer.data_ptr<float>();
    for (int64_t b = first; b < last; ++b) {
      const int64_t row = b * kRows, rows = std::min(kRows, count - row);
      std::vector<cpu::LogitSums> of_row(static_cast<size_t>(rows),
                                         {-std::numeric_limits<float>::infinity(), 0.0f, 0.0});
      std::vector<float> at_target(static_cast<size_t>(rows)), at_excluded(at_target);
      for (int64_t c = 0; c < state.classes(); c += kClasses) {
        const int64_t classes = std::min(kClasses, state.classes() - c);
        make_logits(state, row, rows, c, classes, logits);
        for (int64_t r = 0; r < rows; ++r) {
          const float* of_block = logits + r * kClasses;
          cpu::tile_kernels()->add_logits(of_block, classes, of_row[r]);
          const auto pick = [&](int64_t chosen, float& value) {
            if (chosen >= c && chosen < c + classes) value = of_block[chosen - c];
          };
          pick(target[row + r], at_target[r]);
          pick(q.excluded, at_excluded[r]);
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        const double log_sum = static_cast<double>(of_row[r].largest) +
                               std::log(static_cast<double>(of_row[r].exp_sum));
        state.log_sums[row + r] = static_cast<float>(log_sum);
        const bool excludes = q.excluded >= 0 && q.excluded != target[row + r];
        const double nll = log_sum - at_target[r];
        const double others = static_cast<double>(state.classes() - 1 - (excludes ? 1 : 0));
        const double sum_others = of_row[r].sum - at_target[r] - (excludes ? at_excluded[r] : 0.0f);
        sums[b].first += q.target_probability * nll +
                         q.smoothing_per_class * (others * log_sum - sum_others) +
                         static_cast<double>(q.z_loss) * log_sum * log_sum;
        sums[b].second += nll;
      }
    }
  });
  std::pair<double, double> total;
  for (const auto& [loss, nll] : sums) {
    total.first += loss;
    total.second += nll;
  }
  return total;
}

// `factor` times the gradient: adds that of x to dx [N, D] and that of the weight to dw [V, D].
void add_gradients(const LossState& state, const torch::Tensor& x, float factor, torch::Tensor& dx,
                   torch::Tensor& dw) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const int64_t count = state.rows(), width = state.width();
  const int64_t* target = state.targets_N.const_data_ptr<int64_t>();
  const cpu::SmoothedTargets& q = state.targets;
  const torch::Tensor x_right = bf16::tiles(width, count);
  kernels.right(bf16::source(x, 0, count), bf16::data(x_right));
  const int64_t backward_stride = bf16::tile_count(state.classes(), bf16::kTileInner);
  // Threads split the classes, and so the rows of dw; dx is a sum over classes, accumulated per
  // thread.
  const int64_t blocks = bf16::tile_count(state.classes(), kClasses);
  const int64_t threads =
      at::in_parallel_region() ? 1 : std::min<int64_t>(at::get_num_threads(), blocks);
  std::vector<torch::Tensor> partial(static_cast<size_t>(threads), dx);
  for (int64_t t = 1; t < threads; ++t) partial[t] = torch::zeros_like(dx);
  at::parallel_for(0, threads, 1, [&](int64_t first, int64_t last) {
    const torch::Tensor buffer = torch::empty({kRows, kClasses});
    const torch::Tensor left = bf16::tiles(kRows, kClasses), turned = bf16::tiles(kClasses, kRows);
    float* logits = buffer.data_ptr<float>();
    for (int64_t t = first; t < last; ++t) {
      for (int64_t b = blocks * t / threads; b < blocks * (t + 1) / threads; ++b) {
        const int64_t c = b * kClasses, classes = std::min(kClasses, state.classes() - c);
        for (int64_t row = 0; row < count; row += kRows) {
          const int64_t rows = std::min(kRows, count - row);
          make_logits(state, row, rows, c, classes, logits);
          for (int64_t r = 0; r < rows; ++r) {
            float* of_row = logits + r * kClasses;
            const float log_sum = state.log_sums[row + r];
            kernels.loss_gradient(of_row, classes, log_sum, 1.0f + 2.0f * q.z_loss * log_sum,
                                  q.smoothing_per_class, factor);
            const int64_t correct = target[row + r];
            const auto add_at = [&](int64_t chosen, float value) {
              if (chosen >= c && chosen < c + classes) of_row[chosen - c] += factor * value;
            };
            add_at(correct, q.smoothing_per_class - q.target_probability);
            if (q.excluded != correct) add_at(q.excluded, q.smoothing_per_class);
          }
          const cpu::TileSource gradient{logits, kClasses, rows, classes, false};
          kernels.left(gradient, bf16::data(left));
          const int64_t class_tiles = bf16::tile_count(classes, bf16::kTileInner);
          kernels.multiply({.left = bf16::data(left),
                            .right = bf16::data(state.operand->backward) +
                                     c / bf16::kTileInner * bf16::kTileSize,
                            .right_stride = backward_stride,
                            .rows = rows,
                            .inner_tiles = class_tiles,
                            .columns = width,
                            .out = partial[t].data_ptr<float>() + row * width,
                            .out_stride = width,
                            .add = true});
          kernels.left_transposed(gradient, bf16::data(turned));
          const int64_t row_tiles = bf16::tile_count(rows, bf16::kTileInner);
          kernels.multiply({.left = bf16::data(turned),
                            .right = bf16::data(x_right) + row / bf16::kTileInner * bf16::kTileSize,
                            .right_stride = bf16::tile_count(count, bf16::kTileInner),
                            .rows = classes,
                            .inner_tiles = row_tiles,
                            .columns = width,
                            .out = dw.data_ptr<float>() + c * width,
                            .out_stride = width,
                            .add = true});
        }
      }
    }
  });
  for (int64_t t = 1; t < threads; ++t) dx.add_(partial[t]);
}

class Bf16Loss : public torch::autograd::Function<Bf16Loss> {
 public:
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& /*weight*/,
                               c10::intrusive_ptr<LossState> state) {
    const auto [loss, nll] = sum_losses(*state);
    context->save_for_backward({x});
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    const variable_list sums{torch::tensor(loss, torch::kFloat32),
                             torch::tensor(nll, torch::kFloat64)};
    context->mark_non_differentiable({sums[1]});
    return sums;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::Tensor x = context->get_saved_variables()[0];
    const auto holder = context->saved_data["state"].toCapsule();
    const auto& state = static_cast<const LossState&>(*holder);
    torch::Tensor dx = torch::zeros_like(x);
    GradientTarget target(state.weight);
    // Both gradients come from the same logits: an unused one goes to a scratch tensor.
    torch::Tensor nowhere;
    const bool wants_weight = context->needs_input_grad(1);
    if (!wants_weight) nowhere = torch::zeros_like(state.weight);
    add_gradients(state, x, gradients[0].item<float>(), dx, wants_weight ? target.into : nowhere);
    return {dx, wants_weight ? target.to_return : torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

namespace bf16 {

LossSums smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                       const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  TORCH_CHECK(x_ND.is_cpu() && x_ND.scalar_type() == torch::kFloat32,
              "the bf16 loss requires float32 rows on a CPU");
  auto state = c10::make_intrusive<LossState>();
  state->weight = weight_VD;
  state->targets_N = targets_N;
  state->targets = targets;
  state->operand = ComputeScope::packed_weights()->of(weight_VD);
  state->x_tiles = tiles(x_ND.size(0), x_ND.size(1));
  cpu::tile_kernels()->left(source(x_ND, 0, x_ND.size(0)), data(state->x_tiles));
  const variable_list sums = Bf16Loss::apply(x_ND, weight_VD, state);
  return {sums[0], sums[1]};
}

}  // namespace bf16
}  // namespace attn
