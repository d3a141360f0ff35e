// Optimizers against PyTorch's and published formulas (golden values: tools/goldens/optimizers.py).
#include "train/optimizer.h"

#include <vector>

#include "model/layers/linear.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/golden.h"
#include "tests/support/scopes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::copying_training;
using testing::max_difference;
using Setup = testing::CopyingTask;

namespace {

struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl() {
    a = register_module("a", Linear(4, 6));
    b = register_module("b", Linear(torch::nn::LinearOptions(6, 4).bias(false)));
  }
  Linear a = nullptr, b = nullptr;
};
TORCH_MODULE(TwoLayers);

OptimizerConfig named(const std::string& name) {
  OptimizerConfig config;
  if (name == "adamw") {
    config.kind = OptimizerKind::adamw;
    config.adamw.weight_decay = 0.1;
  } else if (name == "lion") {
    config.kind = OptimizerKind::lion;
    config.lion.weight_decay = 0.1;
  } else {
    config.kind = OptimizerKind::muon;
    config.muon.scale = name == "muon_original" ? MuonScale::original : MuonScale::match_rms;
    config.muon.rest.weight_decay = 0.1;
  }
  return config;
}

torch::Tensor golden(const std::string& name) {
  static const testing::Golden all("train/data/optimizers.safetensors", "");
  return all(name);
}

void set_all(FlatParameters& flat, const torch::Tensor& to, const std::string& prefix) {
  const torch::NoGradGuard no_grad;
  for (const auto& slot : flat.slots()) {
    FlatParameters::view(to, slot).copy_(golden(prefix + slot.name));
  }
}

// An optimizer that is added is tested, too.
std::vector<OptimizerKind> all_optimizers() {
  std::vector<OptimizerKind> kinds;
  for (const auto& name : EnumNames<OptimizerKind>::values) kinds.push_back(name.value);
  return kinds;
}

TrainConfig training_with(OptimizerKind kind) {
  TrainConfig config = copying_training();
  config.optimizer.kind = kind;
  return config;
}

}  // namespace

TEST_CASE("AdamW, Lion and Muon make the updates of PyTorch and of their papers") {
  const std::string name = GENERATE("adamw", "lion", "muon_original", "muon_match_rms");
  // As processes that share an update; Muon updates whole matrices.
  const bool in_two_ranges = GENERATE(false, true) && !name.starts_with("muon");
  const testing::Threads threads(GENERATE(1, 2));
  CAPTURE(name, in_two_ranges);
  TwoLayers model;
  FlatParameters flat(*model);
  std::vector<FlatRange> ranges = {whole_range(flat)};
  if (in_two_ranges) {
    const int64_t middle = flat.slots()[1].offset;
    ranges = {{0, middle}, {middle, flat.values.numel()}};
  }
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (const FlatRange range : ranges) {
    optimizers.push_back(make_optimizer(named(name), flat, 1.0, range));
    for (const torch::Tensor& state : optimizers.back()->state()) {
      CHECK(state.numel() == range.size());
    }
  }
  set_all(flat, flat.values, "first.");
  for (int64_t step = 1; step <= 5; ++step) {
    set_all(flat, flat.gradients, "gradient" + std::to_string(step) + ".");
    for (const auto& optimizer : optimizers) optimizer->update(0.02, step);
    for (const auto& slot : flat.slots()) {
      CAPTURE(step, slot.name);
      CHECK(max_difference(FlatParameters::view(flat.values, slot),
                           golden(name + std::to_string(step) + "." + slot.name)) < 2e-5);
    }
  }
}

TEST_CASE("the bytes kept for each parameter are those of the optimizer's state and the average") {
  TwoLayers model;
  FlatParameters flat(*model);
  TrainConfig config;
  for (const auto& [kind, name] : EnumNames<OptimizerKind>::values) {
    CAPTURE(name);
    config.optimizer.kind = kind;
    const size_t tensors = make_optimizer(config.optimizer, flat)->state().size();
    CHECK(config.bytes_per_parameter() == 4 * (2 + static_cast<int64_t>(tensors)));
  }
  const int64_t without = config.bytes_per_parameter();
  config.ema = 0.99;
  CHECK(config.bytes_per_parameter() == without + 4);
}

TEST_CASE("orthogonalization keeps singular vectors and moves singular values towards 1") {
  torch::manual_seed(2);
  const torch::Tensor matrix = torch::randn({40, 12});
  const auto [u, s, v] = torch::linalg_svd(matrix, false);
  const torch::Tensor values = u.t().mm(orthogonalized(matrix)).mm(v.t());
  CHECK(max_difference(values, values.diag().diag()) < 1e-4);
  CHECK(values.diag().min().item<double>() > 0.6);
  CHECK(values.diag().max().item<double>() < 1.3);
  CHECK(orthogonalized(torch::zeros({3, 4})).abs().max().item<double>() == 0.0);
}

TEST_CASE("hidden matrices are those of linear layers: not embeddings, gains or biases") {
  Setup setup;
  int64_t matrices = 0;
  for (const auto& slot : setup.trainer.parameters().slots()) {
    const bool layer = slot.name.ends_with(".weight") && slot.shape.size() == 2;
    INFO(slot.name);
    CHECK(slot.hidden_matrix == layer);
    matrices += slot.hidden_matrix ? 1 : 0;
  }
  CHECK(matrices == 3 * 4 + 2 * 2);  // three attentions, two feed-forward networks
}

TEST_CASE("the rate's factor of hidden matrices applies to these alone, and not to weight decay") {
  const OptimizerKind kind = GENERATE(from_range(all_optimizers()));
  const bool muon = kind == OptimizerKind::muon;  // has a factor of its own, of decay, too
  const double decay = muon || kind == OptimizerKind::adam ? 0.0 : GENERATE(0.0, 0.5);
  CAPTURE(enum_name(kind), decay);
  TwoLayers one, scaled;
  FlatParameters first(*one), second(*scaled);
  second.values.copy_(first.values);
  const torch::Tensor before = first.values.clone();
  OptimizerConfig config;
  config.kind = kind;
  config.adamw.weight_decay = config.lion.weight_decay = config.muon.rest.weight_decay = 0.0;
  const auto plain = make_optimizer(config, first);
  config.adamw.weight_decay = config.lion.weight_decay = decay;
  config.muon.rate_scale = 0.25;
  const auto hidden = make_optimizer(config, second, muon ? 1.0 : 0.25);
  first.gradients.normal_();
  second.gradients.copy_(first.gradients);
  plain->update(0.01, 1);
  hidden->update(0.01, 1);
  for (const auto& slot : first.slots()) {
    const double factor = slot.hidden_matrix ? 0.25 : 1.0;
    const auto of = [&](const torch::Tensor& flat) { return FlatParameters::view(flat, slot); };
    const torch::Tensor expected =
        of(before) * (1 - 0.01 * decay) + factor * (of(first.values) - of(before));
    INFO(slot.name);
    CHECK(max_difference(of(second.values), expected) < 1e-6);
  }
}

TEST_CASE("a resumed run is bit-identical to an uninterrupted one, of any optimizer") {
  const bool gpu_path = GENERATE(false, true);  // has batches ahead
  const testing::DevicePath path(gpu_path);
  const OptimizerKind kind = GENERATE(from_range(all_optimizers()));
  TrainConfig config = training_with(kind);
  config.ema = GENERATE(0.0, 0.9);
  CAPTURE(gpu_path, enum_name(kind), config.ema);
  const testing::TemporaryDirectory directory;
  Setup whole(config), first(config), second(config);
  const torch::Tensor initial = whole.weights();
  std::vector<double> losses;
  while (whole.trainer.state.step < 13) losses.push_back(whole.trainer.step().loss);
  CHECK((whole.weights() != initial).to(torch::kFloat64).mean().item<double>() > 0.5);
  CHECK(losses.back() < losses.front());
  for (size_t step = 0; step < 6; ++step) CHECK(first.trainer.step().loss == losses[step]);
  first.save(directory.path());
  second.train_to(2);  // whatever it did before is forgotten
  second.load(directory.path());
  CHECK(second.trainer.state.step == 6);
  for (size_t step = 6; step < 13; ++step) CHECK(second.trainer.step().loss == losses[step]);
  CHECK(max_difference(whole.weights(), second.weights()) == 0.0);
  CHECK(whole.trainer.state.target_tokens == second.trainer.state.target_tokens);
  CHECK(whole.trainer.state.stream == second.trainer.state.stream);
  const AveragedWeights a(whole.trainer.average()), b(second.trainer.average());
  CHECK(torch::equal(whole.weights(), second.weights()));
}

TEST_CASE("a state of another optimizer, or with other tensors, is rejected by name") {
  const testing::TemporaryDirectory directory;
  Setup adam, lion(training_with(OptimizerKind::lion));
  adam.trainer.step();
  adam.save(directory.path());
  CHECK_THROWS_WITH(lion.load(directory.path()),
                    testing::contains("first_moment.") && testing::contains("different config"));
  lion.save(directory.path());
  CHECK_THROWS_WITH(adam.load(directory.path()), testing::contains("momentum."));
}

TEST_CASE("the averaged weights are those of the recursion, and training continues from the last") {
  TrainConfig config = copying_training();
  config.ema = 0.5;
  Setup setup(config), plain;
  torch::Tensor mean = setup.weights();
  for (int64_t step = 1; step <= 20; ++step) {
    setup.trainer.step();
    plain.trainer.step();
    const double decay = std::min(0.5, (1.0 + step) / (10.0 + step));
    mean = decay * mean + (1 - decay) * setup.weights();
    CHECK(torch::equal(setup.weights(), plain.weights()));
  }
  {
    const AveragedWeights averaged(setup.trainer.average());
    CHECK(max_difference(setup.weights(), mean) < 1e-6);
    CHECK(max_difference(setup.weights(), plain.weights()) > 1e-4);
  }
  CHECK(torch::equal(setup.weights(), plain.weights()));
}
