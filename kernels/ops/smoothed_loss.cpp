// Fast path loss: loss 1364efba
// Fast path loss: projection 060f938c
// Fast path gpu_loss: loss 1364efba
// Fast path gpu_loss: projection 060f938c
#include "kernels/ops/smoothed_loss.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "kernels/compute_scope.h"
#include "kernels/cuda/launches.h"
#include "kernels/ops/gpu.h"
#include "kernels/ops/gpu_linear.h"
#include "kernels/ops/gradient_target.h"
#include "kernels/ops/linear_products.h"
#include "kernels/ops/packed_weights.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows per chunk: the logits fit into CPU caches (1.3 million floats, 5 MB) or take 1 GB of a GPU's
// memory (in float32, and as much for probabilities), yet the fixed cost of a chunk is small:
// reading the weights, updating their gradient and, on a GPU, launching some 40 kernels.
int64_t chunk_rows(int64_t classes, torch::Device device) {
  if (on_cpu_path(device)) return std::clamp<int64_t>((int64_t{5} << 18) / classes, 192, 1024);
  return std::max<int64_t>((int64_t{1} << 28) / classes, 192);
}

// Whether loss.cu computes the loss of logits of the type of x.
bool takes_gpu_loss(const torch::Tensor& x, int64_t classes) {
  return cuda::loss_supports(classes, x.scalar_type() == torch::kBFloat16) &&
         gpu::queue_for(FastPath::gpu_loss, x).has_value();
}

// Add the losses of a chunk of logits to `sums`, {smoothed, nll} in float64, by our kernel, by
// that of a GPU or by LibTorch's operations. With `gradient` the logits are overwritten by their
// gradient.

void loss_by_kernel(torch::Tensor& logits, const torch::Tensor& targets_N, cpu::SmoothedTargets q,
                    bool gradient, torch::Tensor& sums) {
  const int64_t rows = logits.size(0), classes = logits.size(1);
  const torch::Tensor floats = logits.to(torch::kFloat32);
  std::vector<double> losses(rows), nlls(rows);
  float* data = floats.data_ptr<float>();
  const int64_t* target = targets_N.const_data_ptr<int64_t>();
  at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      losses[r] = cpu::kernels().smoothed_loss(data + r * classes, classes, target[r], q, gradient,
                                               &nlls[r]);
    }
  });
  double* sum = sums.data_ptr<double>();
  for (int64_t r = 0; r < rows; ++r) {  // in the order of the rows, on any number of threads
    sum[0] += losses[r];
    sum[1] += nlls[r];
  }
  if (gradient && !floats.is_same(logits)) logits.copy_(floats);
}

// log p = (logit − max) + log p(max), where p(max) >= 1 / V cannot underflow, and both terms are
// exact however large the logits are. Log-probabilities are computed where they are needed only:
// [N, V] in float32 are read and written once, as probabilities.
void loss_by_libtorch(torch::Tensor& logits, const torch::Tensor& targets_N, cpu::SmoothedTargets q,
                      bool gradient, torch::Tensor& sums) {
  const torch::Tensor p = logits.softmax(1, torch::kFloat32);
  const auto [highest, place] = logits.max(1, true);
  const torch::Tensor max = highest.to(torch::kFloat32), at_max = p.gather(1, place).log();
  const auto log_p = [&](const torch::Tensor& chosen) {  // all are [N, 1]
    return (chosen.to(torch::kFloat32) - max).add_(at_max);
  };
  const torch::Tensor given = targets_N.unsqueeze(1), target = given.clamp_min(0);
  const torch::Tensor counts = (given >= 0).to(torch::kFloat32);  // 0 in rows without a target
  const torch::Tensor at_target = log_p(logits.gather(1, target));
  const torch::Tensor log_z = max - at_max;
  const torch::Tensor others =
      logits.sum(1, true, torch::kFloat32) - log_z * logits.size(1) - at_target;
  torch::Tensor excludes;  // [N, 1]: 1 where the excluded class is not the target
  if (q.excluded >= 0) {
    excludes = (target != q.excluded).to(torch::kFloat32);
    others.sub_(log_p(logits.narrow(1, q.excluded, 1)) * excludes);
  }
  const torch::Tensor smoothed = at_target * q.target_probability + others * q.smoothing_per_class;
  const auto sum = [&](const torch::Tensor& of_rows) {
    return (of_rows * counts).sum(torch::kFloat64);
  };
  sums.sub_(torch::stack({sum(smoothed), sum(at_target)}));
  if (q.z_loss > 0) sums[0].add_(sum(log_z.pow(2)), q.z_loss);
  if (!gradient) return;
  // d(z log² Z) / d logit = 2 z log Z p
  const torch::Tensor factor = q.z_loss > 0 ? counts * (1 + 2 * q.z_loss * log_z) : counts;
  const torch::Tensor p_target = p.gather(1, target) * factor;
  torch::addcmul_out(logits, counts * -q.smoothing_per_class, p, factor);
  // The difference is computed in float32, before rounding: it may be small.
  logits.scatter_(1, target, (p_target - q.target_probability * counts).to(logits.scalar_type()));
  if (q.excluded >= 0) {
    logits.narrow(1, q.excluded, 1)
        .add_((excludes * counts * q.smoothing_per_class).to(logits.scalar_type()));
  }
}

void loss_by_gpu(torch::Tensor& logits, const torch::Tensor& targets_N, cpu::SmoothedTargets q,
                 bool gradient, torch::Tensor& sums) {
  const torch::Tensor of_rows =
      torch::empty({2, logits.size(0)}, sums.options().dtype(torch::kFloat32));
  cuda::smoothed_loss(gpu::queue_of(logits),
                      {.logits = logits.data_ptr(),
                       .stride = logits.stride(0),
                       .rows = logits.size(0),
                       .classes = static_cast<int32_t>(logits.size(1)),
                       .gradient = gradient ? 1 : 0,
                       .targets = targets_N.const_data_ptr<int64_t>(),
                       .target_probability = q.target_probability,
                       .smoothing_per_class = q.smoothing_per_class,
                       .z_loss = q.z_loss,
                       .excluded = static_cast<int32_t>(q.excluded),
                       .losses = of_rows[0].data_ptr<float>(),
                       .nlls = of_rows[1].data_ptr<float>()},
                      logits.scalar_type() == torch::kBFloat16);
  sums.add_(of_rows.sum(1, /*keepdim=*/false, torch::kFloat64));
}

// The projection by packed weights, if there are some.
c10::intrusive_ptr<LinearLayers> packed_projection(const torch::Tensor& weight) {
  PackedWeights* packed = ComputeScope::packed_weights();
  if (packed == nullptr) return nullptr;
  auto projection = c10::make_intrusive<LinearLayers>();
  projection->precision = packed->precision();
  projection->layers.push_back({{weight, {}}, packed->of(weight)});
  return projection;
}

struct Sums {
  torch::Tensor losses;  // float64: {smoothed, nll}
  torch::Tensor dx, dw;
};

Sums sums_of(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& targets_N,
             cpu::SmoothedTargets targets, bool kernel, bool gradient) {
  const torch::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  Sums sums{.losses = torch::zeros({2}, x.options().dtype(torch::kFloat64)), .dx = {}, .dw = {}};
  PackedWeights* copies = x.scalar_type() == torch::kBFloat16 ? weight_copies(x) : nullptr;
  const torch::Tensor w = copies ? copies->bf16_copy({weight}) : weight.to(x.scalar_type());
  if (gradient) {
    sums.dx = torch::empty(x.sizes(), x.options());
    sums.dw = torch::zeros(weight.sizes(), weight.options());
  }
  const bool gpu = !kernel && takes_gpu_loss(x, weight.size(0));
  const auto chunk_loss = kernel ? loss_by_kernel : gpu ? loss_by_gpu : loss_by_libtorch;
  const c10::intrusive_ptr<LinearLayers> packed = kernel ? packed_projection(weight) : nullptr;
  const int64_t step = chunk_rows(weight.size(0), x.device());
  torch::Tensor buffer;
  for (int64_t begin = 0; begin < x.size(0); begin += step) {
    const int64_t rows = std::min(step, x.size(0) - begin);
    const torch::Tensor part = x.narrow(0, begin, rows);
    torch::Tensor logits;
    if (packed) {
      logits = products_of(packed->precision).multiply_all(part, *packed)[0];
    } else {
      if (!buffer.defined()) {
        const int64_t stride = gpu ? cuda::loss_stride(weight.size(0)) : weight.size(0);
        buffer = torch::empty({rows, stride}, x.options());
      }
      logits = buffer.narrow(0, 0, rows).narrow(1, 0, weight.size(0));
      torch::mm_out(logits, part, w.t());
    }
    chunk_loss(logits, targets_N.narrow(0, begin, rows), targets, gradient, sums.losses);
    if (!gradient) continue;
    torch::Tensor dx = sums.dx.narrow(0, begin, rows);
    if (packed) {
      const LinearProducts& products = products_of(packed->precision);
      dx.copy_(products.input_gradient(part, *packed, {logits}));
      products.add_weight_gradients(part,
                                    std::array{WeightGradient{logits, sums.dw.data_ptr<float>()}});
      continue;
    }
    if (gpu) buffer.slice(1, weight.size(0)).zero_();  // oneDNN on AMX reads NaN beyond a row, too
    torch::mm_out(dx, logits, w);
    add_product(sums.dw, logits.t(), part);
  }
  return sums;
}

variable_list scalars(const Sums& sums) {
  return {sums.losses[0].to(torch::kFloat32), sums.losses[1].clone()};
}

class ChunkedLoss : public torch::autograd::Function<ChunkedLoss> {
 public:
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& targets_N,
                               cpu::SmoothedTargets targets, bool kernel) {
    const Sums sums = sums_of(x, weight, targets_N, targets, kernel, true);
    context->save_for_backward({sums.dx, sums.dw});
    const variable_list losses = scalars(sums);
    context->mark_non_differentiable({losses[1]});
    return losses;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    // The saved gradients are used once, so they are scaled in place, in float32: the factor must
    // not be rounded to bf16.
    const torch::Tensor dx = saved[0].to(torch::kFloat32).mul_(gradients[0]);
    return {dx.to(saved[0].scalar_type()), saved[1].mul_(gradients[0]), {}, {}, {}};
  }
};

LossSums loss_in_chunks(const torch::Tensor& x, const torch::Tensor& weight,
                        const torch::Tensor& targets_N, cpu::SmoothedTargets targets, bool kernel) {
  const bool gradients =
      torch::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad());
  const variable_list losses = gradients
                                   ? ChunkedLoss::apply(x, weight, targets_N, targets, kernel)
                                   : scalars(sums_of(x, weight, targets_N, targets, kernel, false));
  return {losses[0], losses[1]};
}

void check_shapes(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                  const torch::Tensor& targets_N) {
  TORCH_CHECK(
      x_ND.dim() == 2 && x_ND.size(1) == weight_VD.size(1) && targets_N.numel() == x_ND.size(0),
      "smoothed_loss: rows ", x_ND.sizes(), ", weight ", weight_VD.sizes(), ", ", targets_N.numel(),
      " targets");
  TORCH_CHECK(
      weight_VD.scalar_type() == torch::kFloat32 && targets_N.scalar_type() == torch::kInt64,
      "smoothed_loss requires float32 weights and int64 targets");
}

}  // namespace

LossSums chunked_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                               const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  if (!on_cpu_path(x_ND)) return libtorch_smoothed_loss(x_ND, weight_VD, targets_N, targets);
  check_shapes(x_ND, weight_VD, targets_N);
  const int64_t classes = weight_VD.size(0);
  if (targets_N.numel() > 0) {
    TORCH_CHECK(targets_N.min().item<int64_t>() >= 0 && targets_N.max().item<int64_t>() < classes,
                "smoothed_loss: a target is outside the ", classes, " classes");
  }
  const torch::Tensor x = x_ND.contiguous(), indices = targets_N.contiguous();
  return loss_in_chunks(x, weight_VD.contiguous(), indices, targets, true);
}

LossSums libtorch_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                                const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  check_shapes(x_ND, weight_VD, targets_N);
  return loss_in_chunks(x_ND.contiguous(), weight_VD.contiguous(), targets_N.contiguous(), targets,
                        false);
}

}  // namespace attn
