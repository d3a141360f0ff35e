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
#include "train/loss.h"

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
// The longer ones have more keys than a block of 32.
constexpr int64_t kSourceLengths[] = {3, 36}, kTargetLengths[] = {4, 35};
constexpr double kUsualLogProb = 100.0;
constexpr int64_t kSearchSteps = 33;  // past a block of 32 keys
constexpr uint64_t kSeed = 20170612;

struct Pairs {
  TokenSequences source, target;
  torch::Tensor targets_N;
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

Pairs pairs_for(const Seq2SeqModel& model) {
  const int64_t longest = model.max_length().value_or(kSourceLengths[1]);
  const auto limited = [&](std::span<const int64_t> lengths) {
    std::vector<int64_t> out(lengths.begin(), lengths.end());
    for (int64_t& length : out) length = std::min(length, longest);
    return out;
  };
  const std::vector<int64_t> source = limited(kSourceLengths), target = limited(kTargetLengths);
  const VocabularySizes& sizes = model.sizes();
  const torch::Device device = model.device();
  return {sequences(source, sizes.source, sizes.source_features, kSeed, device),
          sequences(target, sizes.target, 0, kSeed + 1000, device),
          sequences(target, sizes.target, 0, kSeed + 2000, device).tokens_N};
}

struct Computed {
  double loss = 0.0;
  std::vector<torch::Tensor> gradients;
};

// The model's own gradients are put aside, and back.
Computed compute(Seq2SeqModel& model, const Pairs& pairs, ComputeScope::Options options,
                 bool gradients) {
  options.device = model.device();
  options.dropout_seed = kSeed;
  const ComputeScope scope(options);
  const torch::AutoGradMode grad_mode(gradients);
  std::vector<torch::Tensor> parameters = model.parameters(), own;
  for (torch::Tensor& parameter : parameters) {
    own.push_back(std::exchange(parameter.mutable_grad(), torch::Tensor()));
  }
  const LossSums sums =
      output_loss(model, model.forward(pairs.source, pairs.target), pairs.targets_N,
                  smoothed_targets(Smoothing::wrong, 0.1, model.sizes().target));
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

struct Norms {
  double whole = 0.0;
  std::vector<double> of_parameters;
};
Norms norms_of(size_t parameters, const std::function<torch::Tensor(size_t)>& tensor) {
  Norms out;
  for (size_t i = 0; i < parameters; ++i) {
    out.of_parameters.push_back(tensor(i).norm().item<double>());
    out.whole = std::hypot(out.whole, out.of_parameters.back());
  }
  return out;
}

// The difference of the whole gradient, relative. `rounded`: the exact gradients of rounded
// weights, only computed for a difference above the bounds.
double compare_gradients(const Seq2SeqModel& model, const std::vector<torch::Tensor>& exact,
                         const std::vector<torch::Tensor>& fast, const Bounds& bounds,
                         const std::function<std::vector<torch::Tensor>()>& rounded) {
  const auto difference_to = [&](const std::vector<torch::Tensor>& other) {
    return norms_of(exact.size(), [&](size_t i) { return other[i] - exact[i]; });
  };
  const Norms norms = norms_of(exact.size(), [&](size_t i) { return exact[i]; }),
              different = difference_to(fast);
  const double share = different.whole / norms.whole;
  if (!std::isfinite(norms.whole) || norms.whole == 0.0) return 0.0;
  Norms noise{.of_parameters = std::vector<double>(exact.size(), 0.0)};
  double any_noise = 0.0;  // the greatest share of a parameter's
  size_t worst = 0;
  const auto floor_of = [&](size_t i) {
    return std::max(norms.of_parameters[i], bounds.floor * norms.whole);
  };
  const auto differ = [&] {
    double most = -1.0;
    for (size_t i = 0; i < exact.size(); ++i) {
      const double rounding = std::max(kRoundings * noise.of_parameters[i] / floor_of(i),
                                       std::min(kRoundings * any_noise, kSides));
      const double own =
          different.of_parameters[i] / (std::max(bounds.parameter, rounding) * floor_of(i));
      if (!(own <= most)) worst = i, most = own;  // also if it is NaN
    }
    const double limit = std::max(bounds.whole * norms.whole, kRoundings * noise.whole);
    return !(different.whole <= limit) || !(most <= 1.0);
  };
  if (!differ()) return share;
  noise = difference_to(rounded());
  for (size_t i = 0; i < exact.size(); ++i) {
    any_noise = std::max(any_noise, noise.of_parameters[i] / floor_of(i));
  }
  if (differ()) {
    fail("the gradient of " + model.named_parameters()[worst].key() + " (by " +
             percent(different.of_parameters[worst] / floor_of(worst)) + ", the whole by " +
             percent(share) + ")",
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
      fail(format("a log-probability of search, by %.3g at position %lld,", difference,
                  static_cast<long long>(i)),
           "teacher forcing by the modules");
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace

std::string FastPathDifference::text() const {
  return format("loss %.0e, gradients %.0e, search %.0e", loss, gradients, search);
}

FastPathDifference check_fast_paths(Seq2SeqModel& model, const FastPathCheck& check) {
  const Pairs pairs = pairs_for(model);
  const bool training = model.is_training();
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
      const Computed coarse =
          compute(model, pairs, {.precision = Precision::bf16, .packed_weights = &bf16}, true);
      compare_gradients(model, fast.gradients, coarse.gradients,
                        {kBf16Whole, kBf16Parameter, kBf16Floor, "the same kernels' in fp32"},
                        [&] { return rounded_gradients(model, pairs, kBf16Rounding); });
    }
  }
  model.eval();
  found.search = compare_search(model, pairs);
  model.train(training);
  return found;
}

}  // namespace attn
