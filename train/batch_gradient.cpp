#include "train/batch_gradient.h"

#include <ATen/Parallel.h>

#include "base/random.h"
#include "kernels/compute_scope.h"
#include "train/precision.h"

namespace attn {
namespace {

// Maximum floats in the gradients of all replicas: 1 GB. Larger models lose little when threads
// share their products.
constexpr int64_t kMostReplicated = int64_t{1} << 28;

}  // namespace

BatchGradient::BatchGradient(Seq2SeqModel& model, FlatParameters& parameters, Precision precision,
                             cpu::SmoothedTargets targets)
    : model_(model),
      parameters_(parameters),
      precision_(effective_precision(precision, model.device())),
      packed_weights_(precision_),
      targets_(targets) {
  const int64_t others = model.device().is_cpu() ? at::get_num_threads() - 1 : 0;
  if (others * parameters.gradients.numel() > kMostReplicated) return;
  for (int64_t i = 0; i < others; ++i) {
    std::shared_ptr<Seq2SeqModel> replica = model.replica();
    auto own = std::make_unique<FlatParameters>(*replica, parameters);
    replicas_.push_back({std::move(replica), std::move(own)});
  }
}

void BatchGradient::zero() {
  parameters_.gradients.zero_();
  for (Replica& replica : replicas_) {
    if (replica.used) replica.parameters->gradients.zero_();
    replica.used = false;
  }
  losses_.clear();
  packed_weights_.refresh();
}

LossSums BatchGradient::forward(Seq2SeqModel& model, const Batch& part, uint64_t seed) {
  const torch::Device device = model.device();
  const ComputeScope scope({.precision = precision_,
                            .device = device,
                            .packed_weights = &packed_weights_,
                            .dropout_seed = seed});
  const auto rows = [&](const TokenRows& from) {
    TokenSequences to = token_sequences(from.tokens, from.lengths, device, from.second);
    if (!from.feature_ends.empty()) {
      to.features = row_features(from.features, from.feature_ends, device);
    }
    return to;
  };
  model.train();
  // Copied before the model's kernels are queued, for which it would wait.
  const torch::Tensor targets_N =
      int64_tensor(std::span<const int64_t>(part.target_out.tokens), device);
  const torch::Tensor x_ND = model.forward(rows(part.source), rows(part.target_in));
  return output_loss(model, x_ND, targets_N, targets_);
}

LossSums BatchGradient::add_part(Seq2SeqModel& model, const Batch& part, double factor,
                                 uint64_t seed) {
  const LossSums sums = forward(model, part, seed);
  (sums.loss * factor).backward();
  return {sums.loss.detach(), sums.nll};
}

void BatchGradient::add(const Batch& batch, double factor, uint64_t seed) {
  torch::manual_seed(seed);  // for LibTorch's dropout on a GPU
  if (replicas_.empty() || batch.sentences == 1) {
    losses_.push_back(add_part(model_, batch, factor, seed));
    return;
  }
  const std::vector<Batch> parts = split(batch, static_cast<int64_t>(replicas_.size()) + 1);
  std::vector<LossSums> losses(parts.size());
  at::parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i > 0) replicas_[i - 1].used = true;
      Seq2SeqModel& model = i == 0 ? model_ : *replicas_[i - 1].model;
      losses[i] = add_part(model, parts[i], factor, mix64(seed + static_cast<uint64_t>(i)));
    }
  });
  losses_.insert(losses_.end(), losses.begin(), losses.end());
}

UpdateSums BatchGradient::collect() {
  for (const Replica& replica : replicas_) {
    if (replica.used) parameters_.gradients.add_(replica.parameters->gradients);
  }
  std::vector<torch::Tensor> scalars{parameters_.gradients.norm().to(torch::kFloat64)};
  for (const LossSums& of_part : losses_) {
    scalars.push_back(of_part.loss.to(torch::kFloat64));
    scalars.push_back(of_part.nll);
  }
  const torch::Tensor read = torch::stack(scalars).cpu();
  const double* value = read.const_data_ptr<double>();
  UpdateSums sums{.gradient_norm = *value++};
  for (size_t i = 0; i < losses_.size(); ++i) {
    sums.smoothed += *value++;
    sums.nll += *value++;
  }
  return sums;
}

}  // namespace attn
