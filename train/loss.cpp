#include "train/loss.h"

#include "kernels/compute_scope.h"

namespace attn {

cpu::SmoothedTargets smoothed_targets(Smoothing form, double epsilon, int64_t classes,
                                      int64_t excluded_class) {
  const double others = static_cast<double>(classes - 1);
  const bool excludes = form == Smoothing::wrong_no_pad && excluded_class >= 0;
  double target_probability = 1.0 - epsilon, per_class = 0.0;
  switch (form) {
    case Smoothing::wrong:
      per_class = epsilon / others;
      break;
    case Smoothing::wrong_no_pad:
      per_class = epsilon / (excludes ? others - 1.0 : others);
      break;
    case Smoothing::all:
      per_class = epsilon / static_cast<double>(classes);
      target_probability += per_class;
      break;
  }
  return {static_cast<float>(target_probability), static_cast<float>(per_class),
          excludes ? excluded_class : -1};
}

cpu::SmoothedTargets training_targets(const TrainConfig& config, int64_t classes,
                                      int64_t excluded_class) {
  cpu::SmoothedTargets targets =
      smoothed_targets(config.smoothing, config.label_smoothing, classes, excluded_class);
  targets.z_loss = static_cast<float>(config.z_loss);
  return targets;
}

LossSums smoothed_loss(const torch::Tensor& logits_NV, const torch::Tensor& targets_N,
                       cpu::SmoothedTargets targets) {
  const torch::Tensor log_p = logits_NV.to(torch::kFloat32).log_softmax(-1);
  const torch::Tensor at_target_N = log_p.gather(1, targets_N.unsqueeze(1)).squeeze(1);
  torch::Tensor q = torch::full_like(log_p, targets.smoothing_per_class);
  if (targets.excluded >= 0) q.select(1, targets.excluded).zero_();
  q.scatter_(1, targets_N.unsqueeze(1), targets.target_probability);
  torch::Tensor loss = -(q * log_p).sum();
  if (targets.z_loss > 0) {
    loss = loss + targets.z_loss * logits_NV.to(torch::kFloat32).logsumexp(-1).pow(2).sum();
  }
  return {loss, -at_target_N.detach().sum(torch::kFloat64)};
}

LossSums output_loss(const Seq2SeqModel& model, const torch::Tensor& x_ND,
                     const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  const auto narrow = ComputeScope::autocast_type(x_ND.device());
  const torch::Tensor x = narrow ? x_ND.to(*narrow) : x_ND;
  return chunked_smoothed_loss(x, model.output_layer().weight_VD, targets_N, targets);
}

}  // namespace attn
