#include "train/batch_gradient.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "kernels/compute_scope.h"
#include "kernels/cpu/tiles.h"
#include "kernels/cuda/host_copy.h"

namespace attn {
namespace {

// Maximum floats in the gradients of all replicas: 1 GB. Larger models lose little when threads
// share their products.
constexpr int64_t kMaxReplicated = int64_t{1} << 28;

// {loss, nll}, float64.
torch::Tensor stacked(const LossSums& sums) {
  return torch::stack({sums.loss.detach().to(torch::kFloat64), sums.nll});
}

}  // namespace

Precision effective_precision(Precision requested, torch::Device device) {
  return device.is_cpu() && !cpu::has_bf16_instructions() ? Precision::fp32 : requested;
}

BatchGradient::BatchGradient(Seq2SeqModel& model, FlatParameters& parameters, Precision precision,
                             cpu::SmoothedTargets targets, const TrainerProcesses& processes,
                             Precision residual)
    : processes_(processes),
      sum_(processes.world, parameters.gradients.numel()),
      model_(model),
      parameters_(parameters),
      precision_(effective_precision(precision, model.device())),
      residual_(precision_ == Precision::bf16 ? residual : Precision::fp32),
      packed_weights_(precision_),
      targets_(targets),
      padded_sums_(torch::zeros({2}, parameters.values.options().dtype(torch::kFloat64))),
      padded_(model.device(), {parameters.gradients, padded_sums_},
              [this](const StaticBatch& on_device) { add_padded(on_device); }) {
  const int64_t threads = on_cpu_path(model.device()) ? at::get_num_threads() : 1;
  if ((threads - 1) * parameters.gradients.numel() > kMaxReplicated) return;
  for (int64_t i = 1; i < threads; ++i) {
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
  padded_sums_.zero_();
  packed_weights_.refresh();
}

LossSums BatchGradient::forward(Seq2SeqModel& model, const TokenSequences& source,
                                const TokenSequences& target_in, const torch::Tensor& targets_N,
                                uint64_t seed, const torch::Tensor& device_seed) {
  const ComputeScope scope({.precision = precision_,
                            .residual = residual_,
                            .device = model.device(),
                            .packed_weights = &packed_weights_,
                            .dropout_seed = seed,
                            .device_seed = device_seed});
  model.train();
  return output_loss(model, model.forward(source, target_in), targets_N, targets_);
}

torch::Tensor BatchGradient::add_part(Seq2SeqModel& model, const Batch& part, double factor,
                                      uint64_t seed) {
  const torch::Device device = model.device();
  // All are copied before the model's kernels are queued, for which they would wait.
  const torch::Tensor targets_N = int64_tensor(part.target_out.tokens, device);
  const LossSums sums = forward(model, token_sequences(part.source, device),
                                token_sequences(part.target_in, device), targets_N, seed, {});
  (sums.loss * factor).backward();
  return stacked(sums);
}

void BatchGradient::add(const Batch& batch, double factor, uint64_t seed) {
  const int64_t own = own_parts(), all = own * processes_.world.size(),
                first = own * processes_.world.rank();
  const bool whole = all == 1 || batch.sentences == 1;
  const std::vector<Batch> parts = whole ? std::vector<Batch>{batch} : split(batch, all);
  const auto seed_of = [&](int64_t part) {
    return whole ? seed : mix64(seed + static_cast<uint64_t>(part));
  };
  // For LibTorch's dropout on a GPU, which draws for a process, not for a part.
  torch::manual_seed(seed_of(first));
  const auto present = std::clamp<int64_t>(static_cast<int64_t>(parts.size()) - first, 0, own);
  const torch::Tensor losses = torch::zeros({own, 2}, padded_sums_.options());
  const auto compute = [&](int64_t i) {
    if (i > 0) replicas_[i - 1].used = true;
    Seq2SeqModel& model = i == 0 ? model_ : *replicas_[i - 1].model;
    losses[i] = add_part(model, parts[first + i], factor, seed_of(first + i));
  };
  if (own == 1) {
    if (present == 1) compute(0);
  } else {
    // One thread for each part, also for a single one: results of some of LibTorch's operations
    // depend on the number of threads, and must not on how many parts this process happens to have.
    at::parallel_for(0, std::max<int64_t>(present, 2), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < std::min(end, present); ++i) compute(i);
    });
  }
  losses_.push_back(losses);
}

void BatchGradient::add(const StaticBatch& batch, double factor, uint64_t seed) {
  TORCH_CHECK(own_parts() * processes_.world.size() == 1, "padded batches are not divided");
  batch.factor.fill_(factor);
  batch.seed.fill_(static_cast<int64_t>(seed));
  padded_.run(batch, seed);
  losses_ = {padded_sums_};
}

void BatchGradient::add_padded(const StaticBatch& on_device) {
  const LossSums sums = forward(model_, on_device.source, on_device.target_in, on_device.targets_N,
                                /*seed=*/0, on_device.seed);
  (sums.loss * on_device.factor).backward();
  padded_sums_.add_(stacked(sums));
}

torch::Tensor BatchGradient::squares_and_losses() const {
  const FlatRange own = sum_.own();
  std::vector<torch::Tensor> all{
      block_squares(parameters_.gradients.narrow(0, own.begin, own.size()))};
  for (const torch::Tensor& of_batch : losses_) all.push_back(of_batch.flatten());
  return torch::cat(all);
}

// In the order of blocks, and of batches and their parts: the same with any division.
UpdateSums BatchGradient::sum_scalars(const torch::Tensor& own) const {
  const auto* first = own.const_data_ptr<double>();
  const std::vector<std::vector<double>> all =
      gather_lists(processes_.world, std::vector<double>(first, first + own.numel()));
  const int64_t parts = 2 * own_parts(), losses = parts * std::ssize(losses_);
  UpdateSums sums;
  double squares = 0.0;
  for (const auto& list : all) {
    for (size_t i = 0; i + losses < list.size(); ++i) squares += list[i];
  }
  sums.gradient_norm = std::sqrt(squares);
  for (int64_t batch = 0; batch < losses; batch += parts) {
    for (const auto& list : all) {
      const double* value = list.data() + list.size() - losses + batch;
      for (int64_t i = 0; i < parts; i += 2) {
        sums.smoothed += value[i];
        sums.nll += value[i + 1];
      }
    }
  }
  return sums;
}

UpdateSums BatchGradient::collect(const std::function<void(const torch::Tensor&)>& meanwhile) {
  const auto gradients = [&](int64_t i) -> torch::Tensor& {
    return i == 0 ? parameters_.gradients : replicas_[i - 1].parameters->gradients;
  };
  // Parts are used from the first one, so that an unused one has no used ones below it.
  tree_sum(own_parts(), [&](int64_t i, int64_t j) {
    if (replicas_[j - 1].used) gradients(i).add_(gradients(j));
  });
  sum_.reduce(parameters_.gradients);
  if (!processes_.shard_optimizer) sum_.gather(parameters_.gradients);
  const torch::Tensor own = squares_and_losses();
  HostCopy read(own);
  const bool by_device = !on_cpu_path(model_.device()) && processes_.world.size() == 1;
  if (meanwhile && by_device) meanwhile(own);
  return sum_scalars(read.wait());
}

}  // namespace attn
