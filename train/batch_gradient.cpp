#include "train/batch_gradient.h"

#include <ATen/Parallel.h>

#include "base/random.h"
#include "kernels/dropout.h"
#include "train/precision.h"

namespace attn {
namespace {

// Gradients that replicas may hold together, in floats: 1 GB. Where there would be more, models are
// large, and threads that share their products lose little.
constexpr int64_t kMostReplicated = int64_t{1} << 28;

}  // namespace

BatchGradient::BatchGradient(Transformer model, FlatParameters& parameters, Precision precision,
                             cpu::SmoothedTargets targets)
    : model_(model),
      parameters_(parameters),
      precision_(effective_precision(precision, model->device())),
      targets_(targets) {
  const int64_t others = model->device().is_cpu() ? at::get_num_threads() - 1 : 0;
  if (others * parameters.gradients.numel() > kMostReplicated) return;
  for (int64_t i = 0; i < others; ++i) {
    Transformer replica(model->config(), model->vocabulary());
    auto own = std::make_unique<FlatParameters>(*replica, parameters);
    replicas_.push_back({replica, std::move(own)});
  }
}

void BatchGradient::zero() {
  parameters_.gradients.zero_();
  for (Replica& replica : replicas_) {
    if (replica.used) replica.parameters->gradients.zero_();
    replica.used = false;
  }
  losses_.clear();
  bf16_weights_.refresh();
}

LossSums BatchGradient::forward(Transformer model, const Batch& part) {
  const torch::Device device = model->device();
  const PrecisionScope precision(precision_, device, bf16_weights_);
  const auto rows = [&](const TokenRows& from) {
    return token_sequences(from.tokens, from.lengths, device);
  };
  model->train();
  const torch::Tensor x_ND = model->forward(rows(part.source), rows(part.target_in));
  return output_loss(model, x_ND, rows(part.target_out).tokens_N, targets_);
}

LossSums BatchGradient::add_part(Transformer model, const Batch& part, double factor,
                                 uint64_t seed) {
  const DropoutSeed dropout(seed);
  const LossSums sums = forward(model, part);
  (sums.loss * factor).backward();
  return {sums.loss.detach(), sums.nll};
}

void BatchGradient::add(const Batch& batch, double factor, uint64_t seed) {
  torch::manual_seed(seed);  // off the CPU dropout is LibTorch's
  if (replicas_.empty() || batch.sentences == 1) {
    losses_.push_back(add_part(model_, batch, factor, seed));
    return;
  }
  const std::vector<Batch> parts = split(batch, static_cast<int64_t>(replicas_.size()) + 1);
  std::vector<LossSums> losses(parts.size());
  at::parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i > 0) replicas_[i - 1].used = true;
      Transformer model = i == 0 ? model_ : replicas_[i - 1].model;
      losses[i] = add_part(model, parts[i], factor, mix64(seed + static_cast<uint64_t>(i)));
    }
  });
  losses_.insert(losses_.end(), losses.begin(), losses.end());
}

UpdateLoss BatchGradient::collect() {
  for (const Replica& replica : replicas_) {
    if (replica.used) parameters_.gradients.add_(replica.parameters->gradients);
  }
  UpdateLoss sum;
  for (const LossSums& of_part : losses_) {
    sum.smoothed += of_part.loss.item<double>();
    sum.nll += of_part.nll.item<double>();
  }
  return sum;
}

}  // namespace attn
