#include "kernels/smoothed_loss.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/bf16_products.h"

namespace attn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows of a chunk: few enough for their logits to stay in the caches (1.3 million floats are 5 MB),
// and enough that what every chunk does once, reading the weights and updating their gradient, is
// little beside its products.
int64_t chunk_rows(int64_t classes) {
  return std::clamp<int64_t>((int64_t{5} << 18) / classes, 192, 1024);
}

// One chunk of logits, overwritten by their gradient; adds to the two sums in the order of the
// rows.
void loss_of_chunk(torch::Tensor& logits, const int64_t* target, cpu::SmoothedTargets targets,
                   bool gradient, double& loss, double& nll) {
  const int64_t rows = logits.size(0), classes = logits.size(1);
  std::vector<double> losses(rows), nlls(rows);
  float* data = logits.data_ptr<float>();
  at::parallel_for(0, rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      losses[r] = cpu::kernels().smoothed_loss(data + r * classes, classes, target[r], targets,
                                               gradient, &nlls[r]);
    }
  });
  for (int64_t r = 0; r < rows; ++r) {
    loss += losses[r];
    nll += nlls[r];
  }
}

struct Sums {
  double loss = 0.0, nll = 0.0;
  torch::Tensor dx, dw;
};

Sums sums_of(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& targets_N,
             cpu::SmoothedTargets targets, bool gradient) {
  const torch::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  Sums sums;
  const bool narrow = x.scalar_type() != torch::kFloat32;
  const torch::Tensor w = narrow ? weight.to(x.scalar_type()) : weight;
  if (gradient) {
    sums.dx = torch::empty(x.sizes(), x.options());
    sums.dw = torch::zeros(weight.sizes(), weight.options());
  }
  const int64_t step = chunk_rows(weight.size(0));
  torch::Tensor buffer;
  for (int64_t begin = 0; begin < x.size(0); begin += step) {
    const int64_t rows = std::min(step, x.size(0) - begin);
    const torch::Tensor part = x.narrow(0, begin, rows);
    if (!buffer.defined()) buffer = torch::empty({rows, weight.size(0)}, x.options());
    torch::Tensor products = buffer.narrow(0, 0, rows);
    torch::mm_out(products, part, w.t());
    torch::Tensor logits = narrow ? products.to(torch::kFloat32) : products;
    loss_of_chunk(logits, targets_N.const_data_ptr<int64_t>() + begin, targets, gradient, sums.loss,
                  sums.nll);
    if (!gradient) continue;
    const torch::Tensor d_logits = narrow ? logits.to(x.scalar_type()) : logits;
    torch::Tensor dx = sums.dx.narrow(0, begin, rows);
    torch::mm_out(dx, d_logits, w);
    if (narrow) {
      sums.dw.add_(torch::mm(d_logits.t(), part));
    } else {
      sums.dw.addmm_(d_logits.t(), part);
    }
  }
  return sums;
}

class ChunkedLoss : public torch::autograd::Function<ChunkedLoss> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& targets_N,
                               double right, double spread, int64_t spared, double* nll) {
    const Sums sums =
        sums_of(x, weight, targets_N,
                {static_cast<float>(right), static_cast<float>(spread), spared}, true);
    *nll = sums.nll;
    context->save_for_backward({sums.dx, sums.dw});
    return torch::tensor(sums.loss, torch::kFloat32);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    // The saved gradients are ours alone and used once: scaled in place.
    const double factor = gradients[0].item<double>();
    return {saved[0].mul_(factor), saved[1].mul_(factor), {}, {}, {}, {}, {}};
  }
};

}  // namespace

LossSums chunked_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                               const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  TORCH_CHECK(
      x_ND.dim() == 2 && x_ND.size(1) == weight_VD.size(1) && targets_N.numel() == x_ND.size(0),
      "loss of rows ", x_ND.sizes(), ", weight ", weight_VD.sizes(), ", ", targets_N.numel(),
      " targets");
  TORCH_CHECK(weight_VD.is_cpu() && weight_VD.scalar_type() == torch::kFloat32 &&
                  targets_N.scalar_type() == torch::kInt64,
              "the chunked loss wants float32 weights and int64 targets on a CPU");
  const int64_t classes = weight_VD.size(0);
  if (targets_N.numel() > 0) {
    TORCH_CHECK(targets_N.min().item<int64_t>() >= 0 && targets_N.max().item<int64_t>() < classes,
                "a target outside the ", classes, " classes");
  }
  const torch::Tensor x = x_ND.contiguous(), weight = weight_VD.contiguous();
  const torch::Tensor indices = targets_N.contiguous();
  if (Bf16Scope::weights()) return bf16::smoothed_loss(x, weight_VD, indices, targets);
  if (!torch::GradMode::is_enabled() || !(x_ND.requires_grad() || weight_VD.requires_grad())) {
    const Sums sums = sums_of(x, weight, indices, targets, false);
    return {torch::tensor(sums.loss, torch::kFloat32), sums.nll};
  }
  double nll = 0.0;
  const torch::Tensor loss =
      ChunkedLoss::apply(x, weight, indices, targets.right, targets.spread, targets.spared, &nll);
  return {loss, nll};
}

}  // namespace attn
