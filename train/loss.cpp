#include "train/loss.h"

#include "kernels/compute_scope.h"

namespace attn {

cpu::SmoothedTargets smoothed_targets(Smoothing form, double epsilon, int64_t classes,
                                      int64_t never_target) {
  const double others = static_cast<double>(classes - 1);
  const bool spare = form == Smoothing::wrong_no_pad && never_target >= 0;
  double right = 1.0 - epsilon, spread = 0.0;
  switch (form) {
    case Smoothing::wrong:
      spread = epsilon / others;
      break;
    case Smoothing::wrong_no_pad:
      spread = epsilon / (spare ? others - 1.0 : others);
      break;
    case Smoothing::all:
      spread = epsilon / static_cast<double>(classes);
      right += spread;
      break;
  }
  return {static_cast<float>(right), static_cast<float>(spread), spare ? never_target : -1};
}

LossSums smoothed_loss(const torch::Tensor& logits_NV, const torch::Tensor& targets_N,
                       cpu::SmoothedTargets targets) {
  const torch::Tensor log_p = logits_NV.to(torch::kFloat32).log_softmax(-1);
  const torch::Tensor right_N = log_p.gather(1, targets_N.unsqueeze(1)).squeeze(1);
  torch::Tensor q = torch::full_like(log_p, targets.spread);
  if (targets.spared >= 0) q.select(1, targets.spared).zero_();
  q.scatter_(1, targets_N.unsqueeze(1), targets.right);
  return {-(q * log_p).sum(), -right_N.detach().sum(torch::kFloat64)};
}

LossSums output_loss(const Seq2SeqModel& model, const torch::Tensor& x_ND,
                     const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  const auto narrow = ComputeScope::autocast_type(x_ND.device());
  const torch::Tensor x = narrow ? x_ND.to(*narrow) : x_ND;
  return chunked_smoothed_loss(x, model.output_layer().weight_VD, targets_N, targets);
}

}  // namespace attn
