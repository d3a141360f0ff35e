// Updates of any model on the copying task, for tests that compare the ways to compute them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/seq2seq.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/tensors.h"

namespace attn::testing {

/// Captured work that is replayed by doing it again, on the tensors and host values of its capture.
class RepeatedWork : public Graph {
 public:
  explicit RepeatedWork(std::function<void()> work) : work_(std::move(work)) {}
  void replay() override { work_(); }

 private:
  std::function<void()> work_;
};

struct UpdateOptions {
  int count = 2;
  bool padded = false;  ///< where the model allows that
  torch::Device device = torch::kCPU;
  Capture capture = nullptr;  ///< null: without graphs
  std::function<void(const std::string&)> say = [](const std::string& line) { FAIL(line); };
};

struct Updates {
  bool padded = false;
  std::vector<double> losses, nlls;
  torch::Tensor gradients;  ///< of the first
  torch::Tensor weights;    ///< after the last
};

/// A training with two batches an update.
inline TrainConfig in_two_batches(Precision precision = Precision::fp32) {
  TrainConfig config = copying_training();
  config.accumulate = 2;
  config.precision = precision;
  return config;
}

/// The first updates of a training, from the same seeds each time.
inline Updates updates(const ModelConfig& config, const TrainConfig& training,
                       const UpdateOptions& options) {
  const EncodedCorpus pairs = copying_corpus();
  BatchStream stream(pairs, {.batch_tokens = 60, .seed = 5});
  torch::manual_seed(1);
  const auto model = make_model(config, kCopyingSizes);
  model->to(options.device);
  std::optional<ClassRule> rule;
  if (options.padded) rule = class_rule(60, model->max_length().value_or(0));
  Trainer trainer(training, 9, *model, stream, {}, rule);
  if (options.capture) trainer.use_graphs(options.say, options.capture);
  Updates out;
  out.padded = trainer.classes().has_value();
  for (int i = 0; i < options.count; ++i) {
    const StepReport report = trainer.step();
    out.losses.push_back(report.loss);
    out.nlls.push_back(report.nll);
    if (i == 0) out.gradients = trainer.parameters().gradients.cpu().clone();
  }
  out.weights = trainer.parameters().values.cpu().clone();
  return out;
}

/// Losses, up to a share of their size.
inline void check_losses(const Updates& found, const Updates& expected, double tolerance) {
  for (size_t i = 0; i < expected.losses.size(); ++i) {
    CHECK(found.losses.at(i) == Approx(expected.losses[i]).epsilon(tolerance));
    CHECK(found.nlls.at(i) == Approx(expected.nlls[i]).epsilon(tolerance));
  }
}

/// The same updates but for rounding.
inline void check_updates(const Updates& found, const Updates& expected) {
  CHECK(max_difference(found.gradients, expected.gradients) < 1e-5);
  check_losses(found, expected, 1e-4);
}

/// How far gradients are apart, as a share of their norm.
inline double apart(const Updates& found, const Updates& expected) {
  return ((found.gradients - expected.gradients).norm() / expected.gradients.norm()).item<double>();
}

}  // namespace attn::testing
