#include "train/fast_path_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/random.h"
#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"

namespace attn {
namespace {

constexpr double kLossBound = 1e-4, kWholeBound = 1e-4, kParameterBound = 1e-3, kSearchBound = 1e-3;
// Of the whole gradient's norm, for a parameter's.
constexpr double kFloor = 0.01, kBf16Floor = 0.25;
constexpr double kBf16Whole = 0.3, kBf16Parameter = 0.5;
// An ill-conditioned model, such as one with normalized heads of two dimensions, amplifies
// rounding: its gradients may differ by this many times what a change of the weights by rounding
// changes them by. In fp32 that of a sum of products, not of a weight: of the millions of ReLUs of
// a large model some are at 0 but for rounding, and how many change sides must be a fair sample.
// They may do so in another layer: a parameter's gradient may differ as another one's does, up to
// kSides of its norm.
constexpr double kRoundings = 8.0, kFp32Rounding = 0x1p-20, kBf16Rounding = 0x1p-8, kSides = 0.05;
constexpr double kUsualLogProb = 100.0;
constexpr int64_t kSearchSteps = 33;  // past a block of 32 keys
constexpr uint64_t kSeed = 20170612;
constexpr uint64_t kTrials = 3;  // sets of pairs: a ReLU at 0 but for rounding may fail one

struct Pairs {
  TokenSequences source, target;
  torch::Tensor targets_N;
  cpu::SmoothedTargets loss;
  uint64_t seed;
};

TokenSequences sequences(std::span<const int64_t> lengths, int64_t classes, int64_t features,
                         uint64_t seed, torch::Device device) {
  std::vector<int64_t> tokens, ids, ends;
  for (const int64_t length : lengths) {
    for (int64_t i = 0; i < length; ++i) {
      const uint64_t random = mix64(seed + tokens.size());
      tokens.push_back(static_cast<int64_t>(random % static_cast<uint64_t>(classes)));
      if (features == 0) continue;
      ids.push_back(static_cast<int64_t>(random % static_cast<uint64_t>(features)));
      ends.push_back(static_cast<int64_t>(ids.size()));
    }
  }
  TokenSequences out = token_sequences(tokens, lengths, device);
  if (features > 0) out.features = row_features(ids, ends, device);
  return out;
}

Pairs pairs_for(const Seq2SeqModel& model, const FastPathCheck& check, uint64_t seed) {
  const int64_t most = model.max_length().value_or(36);
  // The longer ones have more keys than a block of 32.
  const std::vector<int64_t> source = {std::min<int64_t>(3, most), std::min<int64_t>(36, most)},
                             target = {std::min<int64_t>(4, most), std::min<int64_t>(35, most)};
  const VocabularySizes& sizes = model.sizes();
  const torch::Device device = model.device();
  const auto loss = check.loss.value_or(smoothed_targets(TrainConfig(), sizes.target));
  const torch::Tensor targets_N = sequences(target, sizes.target, 0, seed + 2000, device).tokens_N;
  return {sequences(source, sizes.source, sizes.source_features, seed, device),
          sequences(target, sizes.target, 0, seed + 1000, device),
          targets_N.masked_fill(targets_N == loss.excluded, loss.excluded == 0 ? 1 : 0), loss,
          seed};
}

struct Computed {
  double loss = 0.0;
  std::vector<torch::Tensor> gradients;
};

// The model's own gradients are put aside, and back.
Computed compute(Seq2SeqModel& model, const Pairs& pairs, ComputeScope::Options options,
                 bool gradients) {
  options.device = model.device();
  options.dropout_seed = pairs.seed;
  const ComputeScope scope(options);
  const torch::AutoGradMode grad_mode(gradients);
  std::vector<torch::Tensor> parameters = model.parameters(), own;
  for (torch::Tensor& parameter : parameters) {
    own.push_back(std::exchange(parameter.mutable_grad(), torch::Tensor()));
  }
  const LossSums sums =
      output_loss(model, model.forward(pairs.source, pairs.target), pairs.targets_N, pairs.loss);
  if (gradients) sums.loss.backward();
  Computed out{.loss = sums.loss.item<double>(), .gradients = {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const torch::Tensor gradient = std::exchange(parameters[i].mutable_grad(), own[i]);
    if (!gradients) continue;
    out.gradients.push_back(gradient.defined() ? gradient : torch::zeros_like(parameters[i]));
  }
  return out;
}

// The gradients of weights that are each changed by up to `share` of itself, as rounding would.
std::vector<torch::Tensor> rounded_gradients(Seq2SeqModel& model, const Pairs& pairs,
                                             double share) {
  constexpr double kRadians = 12.9898;  // no rational part of a turn
  std::vector<torch::Tensor> parameters = model.parameters(), own;
  {
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : parameters) {
      own.push_back(parameter.clone());
      const torch::Tensor change = torch::arange(parameter.numel(), parameter.options());
      parameter.mul_(change.mul_(kRadians).sin_().mul_(share).add_(1.0).view_as(parameter));
    }
  }
  auto gradients = compute(model, pairs, {.kernels = false}, true).gradients;
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(own[i]);
  return gradients;
}

std::string percent(double share) {
  return format("%.3g %%", 100 * share);
}

[[noreturn]] void fail(const std::string& what, const std::string& than) {
  throw ConfigError("fast paths: " + what + " differs from " + than +
                    ": a kernel does not compute what model/ and train/ say; use "
                    "runtime.kernels=off, which is slower, and report it");
}

struct Bounds {
  double whole, parameter, floor;
  const char* than;
};

double norm_of(const torch::Tensor& values) {
  return values.norm().item<double>();
}

// The difference of the whole gradient, relative. `rounded`: the exact gradients of rounded
// weights, only computed for a difference above the bounds.
double compare_gradients(const Seq2SeqModel& model, const std::vector<torch::Tensor>& exact,
                         const std::vector<torch::Tensor>& fast, const Bounds& bounds,
                         const std::function<std::vector<torch::Tensor>()>& rounded) {
  const auto norms_of = [&](const auto& tensor) {  // by parameter
    std::vector<double> norms;
    for (size_t i = 0; i < exact.size(); ++i) norms.push_back(norm_of(tensor(i)));
    return torch::tensor(norms, torch::kFloat64);
  };
  const auto difference_to = [&](const std::vector<torch::Tensor>& other) {
    return norms_of([&](size_t i) { return other[i] - exact[i]; });
  };
  const torch::Tensor norms = norms_of([&](size_t i) { return exact[i]; });
  const double whole = norm_of(norms);
  if (!std::isfinite(whole) || whole == 0.0) return 0.0;
  const torch::Tensor different = difference_to(fast);
  const torch::Tensor shares = different / norms.clamp_min(bounds.floor * whole);
  torch::Tensor worst;
  // `noise`: the differences that rounding makes, relative as `shares`, and that of the whole.
  const auto differ = [&](const torch::Tensor& noise, double noise_of_whole) {
    const torch::Tensor rounding = kRoundings * noise;
    const double of_any = std::min(rounding.max().item<double>(), kSides);
    const torch::Tensor excess = shares / rounding.clamp_min(std::max(bounds.parameter, of_any));
    worst = excess.argmax();
    return !(norm_of(different) <= std::max(bounds.whole * whole, kRoundings * noise_of_whole)) ||
           !(excess.max().item<double>() <= 1.0);  // also if it is NaN
  };
  const double share = norm_of(different) / whole;
  if (!differ(torch::zeros_like(norms), 0.0)) return share;
  const torch::Tensor noise = difference_to(rounded());
  if (differ(noise / norms.clamp_min(bounds.floor * whole), norm_of(noise))) {
    const auto parameter = worst.item<int64_t>();
    fail("the gradient of " + model.named_parameters()[parameter].key() + " (by " +
             percent(shares[parameter].item<double>()) + ", the whole by " + percent(share) + ")",
         bounds.than);
  }
  return share;
}

// Search, forced to the target, against teacher forcing by the modules.
double compare_search(Seq2SeqModel& model, const Pairs& pairs) {
  const torch::NoGradGuard no_grad;
  const Segments& target = pairs.target.segments;
  torch::Tensor forced_NV;
  {
    const ComputeScope scope({.device = model.device(), .kernels = false});
    forced_NV = model.project(model.forward(pairs.source, pairs.target)).log_softmax(-1);
  }
  const auto inference = model.inference();
  const auto session = inference->start(pairs.source);
  const torch::Tensor tokens = pairs.target.tokens_N.cpu();
  double largest = 0.0;
  std::vector<int64_t> before;
  for (int64_t i = 0; i < std::min(target.longest(), kSearchSteps); ++i) {
    std::vector<int64_t> parents, sentences, rows;
    std::vector<int32_t> step;
    for (int64_t b = 0; b < target.count(); ++b) {
      if (i >= target.length(b)) continue;
      const int64_t row = target.offset(b) + i;
      const auto parent = std::find(before.begin(), before.end(), b);
      parents.push_back(before.empty() ? b : parent - before.begin());
      sentences.push_back(b);
      rows.push_back(row);
      step.push_back(static_cast<int32_t>(tokens[row].item<int64_t>()));
    }
    before = sentences;
    const torch::Tensor logits_RV =
        session->step({.parents = parents, .tokens = step, .sentences = sentences});
    const torch::Tensor index = int64_tensor(rows, model.device());
    const torch::Tensor forced_RV = forced_NV.index_select(0, index);
    const double difference =
        (logits_RV.to(torch::kFloat32).log_softmax(-1) - forced_RV).abs().max().item<double>();
    if (!std::isfinite(forced_RV.sum().item<double>())) return 0.0;
    // A model that has diverged has log-probabilities of -1e5, which float32 rounds to 1e-2.
    const double scale = std::max(1.0, forced_RV.abs().max().item<double>() / kUsualLogProb);
    if (!(difference <= kSearchBound * scale)) {
      fail(format("a log-probability of search, by %.3g at position %ld,", difference, i),
           "teacher forcing by the modules");
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

FastPathDifference check_with(const Pairs& pairs, Seq2SeqModel& model, const FastPathCheck& check) {
  FastPathDifference found;
  // A GPU's dropout masks are LibTorch's, other ones each time.
  model.train(check.gradients && on_cpu_path(model.device()));
  const Computed exact = compute(model, pairs, {.kernels = false}, check.gradients);
  PackedWeights fp32(Precision::fp32, check.gradients);
  const Computed fast = compute(model, pairs, {.packed_weights = &fp32}, check.gradients);
  if (std::isfinite(exact.loss)) {
    found.loss = std::abs(fast.loss - exact.loss) / std::abs(exact.loss);
    if (!(found.loss <= kLossBound)) {
      fail("the loss (by " + percent(found.loss) + ")", "the modules'");
    }
  }
  if (check.gradients) {
    found.gradients =
        compare_gradients(model, exact.gradients, fast.gradients,
                          {kWholeBound, kParameterBound, kFloor, "the modules'"},
                          [&] { return rounded_gradients(model, pairs, kFp32Rounding); });
    if (check.precision == Precision::bf16) {
      PackedWeights bf16(Precision::bf16);
      const Computed coarse = compute(
          model, pairs,
          {.precision = Precision::bf16, .residual = check.residual, .packed_weights = &bf16},
          true);
      compare_gradients(model, fast.gradients, coarse.gradients,
                        {kBf16Whole, kBf16Parameter, kBf16Floor, "the same kernels' in fp32"},
                        [&] { return rounded_gradients(model, pairs, kBf16Rounding); });
    }
  }
  model.eval();
  found.search = compare_search(model, pairs);
  return found;
}

}  // namespace

std::string FastPathDifference::text() const {
  return format("loss %.0e, gradients %.0e, search %.0e", loss, gradients, search);
}

FastPathDifference check_fast_paths(Seq2SeqModel& model, const FastPathCheck& check) {
  const bool training = model.is_training();
  for (uint64_t trial = 1;; ++trial) {
    try {
      const auto found = check_with(pairs_for(model, check, trial * kSeed), model, check);
      model.train(training);
      return found;
    } catch (const ConfigError&) {
      if (trial == kTrials) throw;
    }
  }
}

}  // namespace attn
