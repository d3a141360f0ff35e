#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/random.h"
#include "kernels/compute_scope.h"

namespace attn {
namespace {

void require_finite(const char* what, double value, int64_t step, std::span<const Batch> batches,
                    const EncodedCorpus& corpus) {
  if (std::isfinite(value)) return;
  std::ostringstream text;
  text << "step " << step << ": the " << what << " is "
       << (std::isnan(value) ? std::abs(value) : value)  // not "-nan"
       << (batches.size() == 1 ? " on a batch with" : " on batches of which the first has");
  const auto& ids = batches.front().ids;
  const auto first = std::span(ids).first(std::min<size_t>(ids.size(), 3));
  try {
    const auto places = corpus.places(first);
    text << " the training pairs of " << joined(places, ", ") << (ids.size() > 3 ? ", …" : "");
  } catch (const DataError&) {
    text << " training pairs of texts that were changed after they had been encoded";
  }
  text << "; the weights were not updated. Resume from the last checkpoint, if there is one, "
          "with a lower learning rate or train.clip_norm (--resume --change), or train a new run "
          "with a longer warm-up";
  throw NonFiniteLoss(text.str());
}

bool pads_batches(const Seq2SeqModel& model, const Communicator& world) {
  return !on_cpu_path(model.device()) && world.size() == 1 && varies_within_class(model).empty();
}

}  // namespace

uint64_t dropout_seed(uint64_t seed, int64_t step, int64_t batch) {
  const auto place = static_cast<uint64_t>(step * kMaxAccumulated + batch);
  return mix64(seed ^ mix64(place + 1));
}

Trainer::Trainer(const TrainConfig& config, uint64_t seed, Seq2SeqModel& model, BatchStream& stream,
                 const TrainerProcesses& processes, const std::optional<ClassRule>& classes)
    : config_(config),
      processes_(processes),
      seed_(seed),
      model_(model),
      corpus_(stream.corpus()),
      classes_(pads_batches(model, processes.world) ? classes : std::nullopt),
      batches_(stream, config.accumulate, !on_cpu_path(model.device()), classes_),
      parameters_(model),
      gradient_(model, parameters_, config.precision,
                smoothed_targets(config, model.sizes().target,
                                 stream.corpus().vocabularies().never_target()),
                processes, config.residual_precision),
      optimizer_(make_optimizer(
          config.optimizer, parameters_, model.hidden_rate(),
          processes_.shard_optimizer ? gradient_.sum().own() : whole_range(parameters_))),
      average_(config.ema, parameters_) {}

void Trainer::use_graphs(std::function<void(const std::string&)> say, Capture capture) {
  if (!capture && !model_.device().is_cuda()) return;
  if (!capture) capture = cuda_capture(model_.device());
  if (classes_ && capture) return gradient_.use_graphs(std::move(capture), std::move(say));
  const std::string varies = varies_within_class(model_);
  say("no CUDA graphs: " +
      (processes_.world.size() > 1 ? "several processes"
       : !varies.empty()           ? varies
                                   : "this build found no headers of CUDA") +
      "; kernels are launched one by one");
}

StepReport Trainer::step() {
  const SideStream stream(model_.device());
  const UpdateBatches taken = batches_.take(state.stream);
  const BatchAhead::Building next(batches_);
  StepReport report{.step = state.step + 1};
  for (const Batch& batch : taken.batches) report.target_tokens += batch.target_tokens;
  // Divided by all target tokens of the update, so that accumulation equals one large batch.
  const double tokens = static_cast<double>(report.target_tokens);
  gradient_.zero();
  for (size_t i = 0; i < taken.batches.size(); ++i) {
    const uint64_t seed = dropout_seed(seed_, report.step, static_cast<int64_t>(i));
    if (classes_) {
      gradient_.add(taken.padded[i], 1.0 / tokens, seed);
    } else {
      gradient_.add(taken.batches[i], 1.0 / tokens, seed);
    }
  }
  report.learning_rate = learning_rate(config_, model_.width(), report.step);
  bool queued = false;
  const UpdateSums sums = gradient_.collect(
      [&](const torch::Tensor& on_device) { queued = queue_update(report, on_device); });
  report.loss = sums.smoothed / tokens;
  report.nll = sums.nll / tokens;
  report.gradient_norm = sums.gradient_norm;
  require_finite("loss", report.loss, report.step, taken.batches, corpus_);
  require_finite("gradient norm", report.gradient_norm, report.step, taken.batches, corpus_);
  if (!queued) {
    if (config_.clip_norm > 0 && report.gradient_norm > config_.clip_norm) {
      parameters_.gradients.mul_(config_.clip_norm / report.gradient_norm);
    }
    optimizer_->update(report.learning_rate, report.step);
  }
  gradient_.gather_weights();
  average_.update(report.step);
  state.step = report.step;
  state.stream = taken.end;
  state.target_tokens += report.target_tokens;
  return report;
}

// The decisions of step() on the device, which need not wait for the host between an update's
// gradients and Adam. Returns false if the optimizer waits for it.
bool Trainer::queue_update(const StepReport& report, const torch::Tensor& sums) {
  const torch::NoGradGuard no_grad;
  torch::Tensor divisor;
  if (config_.clip_norm > 0) {
    divisor = (sums[0].sqrt() / config_.clip_norm).clamp_min(1.0).to(torch::kFloat32);
  }
  const torch::Tensor skip = sums.isfinite().all().logical_not().to(torch::kFloat32);
  return optimizer_->queue(report.learning_rate, report.step, divisor, skip);
}

void Trainer::check_memory(const Batch& batch) {
  const SideStream stream(model_.device());
  if (classes_) {
    const StaticBatch padded = static_batch(batch, *classes_);
    // With graphs the third time needs most: eager work beside the graphs' memory (ClassGraphs).
    for (int time = 0; time < 3; ++time) gradient_.add(padded, 1.0, seed_);
  } else {
    gradient_.add(batch, 1.0, seed_);
  }
  gradient_.zero();
}

OptimizerState Trainer::collect_state() {
  OptimizerState whole = optimizer_->state();
  if (!processes_.shard_optimizer) return whole;
  for (torch::Tensor& tensor : whole) tensor = gradient_.sum().gather_to_first(tensor);
  return whole;
}

void Trainer::distribute(const OptimizerState& whole) {
  Communicator& world = processes_.world;
  if (world.size() == 1) return;
  state = from_first(world, state);
  broadcast(world, parameters_.values);
  if (average_.exists()) broadcast(world, average_.values());
  const std::vector<torch::Tensor> own = optimizer_->state();
  for (size_t i = 0; i < own.size(); ++i) {
    if (processes_.shard_optimizer) {
      gradient_.sum().scatter_from_first(whole.at(i), own[i]);
    } else {
      broadcast(world, own[i]);
    }
  }
}

}  // namespace attn
