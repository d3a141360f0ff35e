#include "train/trainer.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <cmath>
#include <limits>
#include <set>

#include "base/format.h"
#include "tests/support/catch.h"
#include "tests/support/scopes.h"
#include "tests/support/tensors.h"
#include "tests/train/updates.h"

using namespace attn;
using testing::copying_corpus;
using testing::copying_model;
using testing::copying_training;
using testing::max_difference;
using Setup = testing::CopyingTask;

namespace {

constexpr int64_t kClasses = testing::kCopyingClasses;

int64_t subnormal(const torch::Tensor& tensor) {
  const torch::Tensor size = tensor.abs();
  return size.gt(0).logical_and(size.lt(std::numeric_limits<float>::min())).sum().item<int64_t>();
}

}  // namespace

TEST_CASE("training on a copying task brings the loss down and the ten-step curve is repeatable") {
  Setup a, b;
  std::vector<double> losses;
  for (int i = 0; i < 10; ++i) {
    losses.push_back(a.trainer.step().loss);
    CHECK(b.trainer.step().loss == losses.back());
  }
  CHECK(torch::equal(a.weights(), b.weights()));
  for (int i = 0; i < 200; ++i) losses.push_back(a.trainer.step().loss);
  CHECK(losses.back() < 0.75 * losses.front());
}

TEST_CASE("k small batches make the gradient of one batch of all their pairs") {
  TransformerConfig shape = copying_model();
  shape.dropout = 0.0;
  TrainConfig small = copying_training();
  small.accumulate = 4;
  Setup accumulated(small, 40, shape);
  // The same pairs as one batch: gradients are sums over pairs divided by all target tokens.
  Setup reference(copying_training(), 40, shape);
  std::vector<uint32_t> ids;
  for (int i = 0; i < 4; ++i) {
    for (const int64_t id : reference.stream.next().ids) ids.push_back(static_cast<uint32_t>(id));
  }
  const Batch all = make_batch(reference.pairs, ids);
  const auto rows = [](const TokenRows& r) { return token_sequences(r.tokens, r.lengths); };
  const auto q = smoothed_targets({}, kClasses);
  const torch::Tensor x = reference.model->forward(rows(all.source), rows(all.target_in));
  const torch::Tensor loss =
      smoothed_loss(reference.model->project(x), rows(all.target_out).tokens_N, q).loss /
      static_cast<double>(all.target_tokens);
  loss.backward();
  const StepReport report = accumulated.trainer.step();
  CHECK(report.loss == Approx(loss.item<double>()).epsilon(1e-5));
  CHECK(max_difference(accumulated.trainer.parameters().gradients,
                       reference.trainer.parameters().gradients) < 1e-5);
}

TEST_CASE("the gradient is the same with any number of threads") {
  TransformerConfig shape = copying_model();
  shape.dropout = 0.0;
  shape.word_positions = GENERATE(false, true);
  std::vector<testing::Updates> found;
  for (const int count : {1, 2, 3}) {
    const testing::Threads threads(count);
    found.push_back(testing::updates(shape, copying_training(), {.count = 1}));
    check_updates(found.back(), found.front());
  }
  CHECK(found[0].gradients.abs().max().item<float>() > 0.01f);
}

TEST_CASE("dropout by several threads repeats under its seed, with kernels and without") {
  const testing::KernelUse use(GENERATE(Kernels::automatic, Kernels::off));
  const Batch batch = largest_batch(copying_corpus(), 60);
  const auto targets = smoothed_targets({}, kClasses);
  const testing::Threads threads(2);
  TransformerConfig shape = copying_model();
  shape.dropout = 0.5;
  Transformer model = Setup::seeded(shape);
  FlatParameters parameters(*model);
  BatchGradient gradient(*model, parameters, Precision::fp32, targets);
  std::vector<torch::Tensor> gradients;
  for (const uint64_t seed : {1, 1, 2}) {
    gradient.zero();
    gradient.add(batch, 1.0, seed);
    gradient.collect();
    gradients.push_back(parameters.gradients.clone());
  }
  CHECK(torch::equal(gradients[0], gradients[1]));
  CHECK(max_difference(gradients[0], gradients[2]) > 1e-3);
}

TEST_CASE("no two batches of a training run share a dropout seed") {
  std::set<uint64_t> seeds;
  size_t count = 0;
  const auto add = [&](int64_t step, int64_t batch) {
    seeds.insert(dropout_seed(9, step, batch));
    ++count;
  };
  for (int64_t step = 1; step <= 40; ++step) {
    for (int64_t batch = 0; batch < kMaxAccumulated; ++batch) add(step, batch);
  }
  for (int64_t bit = 6; bit < 40; ++bit) {
    for (const int64_t batch : {int64_t{0}, int64_t{1}, kMaxAccumulated - 1}) {
      add(int64_t{1} << bit, batch);
    }
  }
  CHECK(seeds.size() == count);
}

TEST_CASE("Adam's moments decay to 0 and never are subnormal") {
  torch::nn::Linear layer(3, 2);
  FlatParameters flat(*layer);
  const auto adam = make_optimizer({.adam = {.weight_decay = GENERATE(0.0, 0.01)}}, flat);
  flat.gradients.fill_(0.01);
  for (int64_t step = 1; step <= 6000; ++step) {
    adam->update(0.001, step);
    flat.gradients.zero_();
    if (step % 10 == 0) {
      REQUIRE(subnormal(adam->state()[0]) == 0);
      REQUIRE(subnormal(adam->state()[1]) == 0);
    }
  }
  CHECK(adam->state()[0].abs().max().item<float>() == 0.0f);
  CHECK(adam->state()[1].max().item<float>() == 0.0f);
}

TEST_CASE(
    "subnormal moments of a saved run become 0 on every thread, and arithmetic is IEEE's after") {
  for (const auto& [threads, width] : {std::pair{1, 300}, {2, 3}, {2, 300}, {3, 40}, {3, 300}}) {
    CAPTURE(threads, width);
    const testing::Threads scope(threads);
    torch::nn::Linear layer(width, width);
    FlatParameters flat(*layer);
    const auto adam = make_optimizer({}, flat);
    flat.gradients.zero_();
    adam->state()[0].fill_(1e-40);
    adam->state()[1].fill_(1.18e-38);
    adam->update(0.001, 1000);
    CHECK(adam->state()[0].abs().max().item<float>() == 0.0f);
    CHECK(adam->state()[1].max().item<float>() == 0.0f);
    const torch::Tensor small = torch::full({1 << 20}, 1e-40f);
    CHECK(subnormal(small * 2) == small.numel());
  }
}

TEST_CASE("Adam's update is LibTorch's bit for bit, by any number of threads") {
  AdamOptions config;
  config.weight_decay = GENERATE(0.0, 0.01);
  const auto [width, threads] = GENERATE(std::pair{1, 1}, std::pair{7, 2}, std::pair{301, 1},
                                         std::pair{301, 2}, std::pair{301, 5});
  const testing::Threads scope(threads);
  torch::nn::Linear layer(width, width);
  FlatParameters flat(*layer);
  const auto adam = make_optimizer({.adam = config}, flat);
  const std::vector<torch::Tensor> values{flat.values.clone()}, gradients{flat.gradients},
      first{adam->state()[0].clone()}, second{adam->state()[1].clone()};
  for (int64_t step = 1; step <= 20; ++step) {
    flat.gradients.normal_();
    adam->update(0.01, step);
    const std::vector<torch::Tensor> count{torch::full({}, static_cast<double>(step))};
    if (config.weight_decay > 0) {
      at::_fused_adamw_(values, gradients, first, second, {}, count, 0.01, config.beta1,
                        config.beta2, config.weight_decay, config.epsilon, false, false);
    } else {
      at::_fused_adam_(values, gradients, first, second, {}, count, 0.01, config.beta1,
                       config.beta2, 0.0, config.epsilon, false, false);
    }
  }
  CHECK(torch::equal(flat.values, values[0]));
  CHECK(torch::equal(adam->state()[0], first[0]));
  CHECK(torch::equal(adam->state()[1], second[0]));
}

TEST_CASE("a non-finite loss stops before the update and names the training pairs") {
  const auto second_batch = [] {
    Setup same;
    same.stream.next();
    const std::vector<int64_t> ids = same.stream.next().ids;
    return joined(same.pairs.places(std::span(ids).first(std::min<size_t>(ids.size(), 3))), ", ");
  };
  const testing::DevicePath path(GENERATE(false, true));  // a GPU's skips the update by itself
  Setup setup;
  setup.trainer.step();
  {
    const torch::NoGradGuard no_grad;
    setup.model->embeddings.shared[5][0] = std::numeric_limits<float>::infinity();
  }
  const torch::Tensor before = setup.weights();
  const torch::Tensor moments = setup.trainer.optimizer().state()[0].clone();
  CHECK_THROWS_WITH(setup.trainer.step(),
                    testing::contains("step 2") &&
                        testing::contains("training pairs of " + second_batch()) &&
                        testing::contains("weights were not updated"));
  CHECK(torch::equal(before.nan_to_num(), setup.weights().nan_to_num()));
  CHECK(torch::equal(moments, setup.trainer.optimizer().state()[0]));
  CHECK(setup.trainer.state.step == 1);
}

TEST_CASE("clipping bounds the gradient's norm and leaves its direction") {
  TrainConfig config = copying_training();
  config.clip_norm = 0.01;
  const testing::DevicePath path(GENERATE(false, true));
  Setup clipped(config), free;
  const double norm = clipped.trainer.step().gradient_norm;
  free.trainer.step();
  CHECK(norm > 0.01);
  CHECK(clipped.trainer.parameters().gradients.norm().item<double>() == Approx(0.01).epsilon(1e-4));
  CHECK(max_difference(clipped.trainer.parameters().gradients * (norm / 0.01),
                       free.trainer.parameters().gradients) < 1e-5);
}

TEST_CASE("updates that a GPU's path decides by itself are those of the host's decisions") {
  TrainConfig config = copying_training();
  config.clip_norm = GENERATE(0.0, 0.01, 1e6);
  config.optimizer.kind = GENERATE(OptimizerKind::adam, OptimizerKind::adamw);
  // With a smaller one Adam's first updates follow the sign of rounding errors.
  config.optimizer.adam.epsilon = config.optimizer.adamw.epsilon = 1e-4;
  TransformerConfig shape = copying_model();
  shape.dropout = 0.0;
  const auto change = [&](bool gpu) {
    const testing::DevicePath path(gpu);
    Setup setup(config, 60, shape);
    const torch::Tensor start = setup.weights();
    for (int i = 0; i < 5; ++i) setup.trainer.step();
    return setup.weights() - start;
  };
  const testing::Threads one(1);
  const torch::Tensor expected = change(false);
  const torch::Tensor apart = change(true) - expected;
  CHECK(apart.norm().item<double>() < 1e-3 * expected.norm().item<double>());
}

TEST_CASE("check_memory changes neither weights nor gradients nor the stream") {
  Setup setup, untouched;
  setup.trainer.check_memory(largest_batch(setup.pairs, 60));
  CHECK(torch::equal(setup.weights(), untouched.weights()));
  CHECK(setup.trainer.parameters().gradients.abs().max().item<float>() == 0.0f);
  setup.trainer.step();
  untouched.trainer.step();
  CHECK(torch::equal(setup.weights(), untouched.weights()));
}

TEST_CASE("bf16 training follows fp32 closely and keeps its weights in fp32") {
  TrainConfig narrow = copying_training();
  narrow.precision = Precision::bf16;
  Setup wide, half(narrow);
  double difference = 0;
  for (int i = 0; i < 20; ++i) {
    const double a = wide.trainer.step().loss, b = half.trainer.step().loss;
    difference = std::max(difference, std::abs(a - b) / a);
  }
  CHECK(difference < 0.02);
  // It does run in another precision, where there is one.
  const bool has = effective_precision(Precision::bf16, torch::kCPU) == Precision::bf16;
  CHECK((difference > 0.0) == has);
  CHECK(half.weights().scalar_type() == torch::kFloat32);
}
