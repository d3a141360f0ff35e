#include "train/fast_path_check.h"

#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"
#include "model/transformer/transformer.h"
#include "tests/support/catch.h"
#include "tests/support/model_variants.h"
#include "tests/support/models.h"
#include "tests/support/skip.h"
#include "train/flat_parameters.h"

using namespace attn;
using testing::contains;
using testing::ModelVariant;

namespace {

const VocabularySizes kSizes{50, 50, 0, {5, 15, 25, 35, 45}};

// A Transformer with a planted fault where fast paths are taken.
class Faulty : public TransformerImpl {
 public:
  enum class Fault { kernel, option, search };
  explicit Faulty(Fault fault, int calls = 1000)
      : TransformerImpl(config(), kSizes), fault_(fault), calls_(calls) {}

  torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) override {
    const torch::Tensor x_ND = TransformerImpl::decode(target_in, memory);
    const bool fast = ComputeScope::takes(FastPath::norm);
    switch (fault_) {
      case Fault::kernel:  // wrong by 1e-3
        return fast && calls_-- > 0 ? x_ND * 1.001 : x_ND;
      case Fault::option:  // one that the kernels ignore
        return fast ? x_ND : torch::tanh(x_ND);
      case Fault::search:  // step() computes another order than this
        break;
    }
    return x_ND + 0.05 * x_ND.flip(1);
  }

 private:
  static TransformerConfig config() {
    TransformerConfig small = testing::small_model();
    small.dropout = 0.1;
    return small;
  }
  Fault fault_;
  int calls_;  // with a fault
};

void check_all(const FastPathCheck& check, torch::Device device = torch::kCPU) {
  for (const ModelVariant& variant : testing::variants()) {
    INFO(variant.name);
    torch::manual_seed(3);
    const auto model = make_model(variant.config, kSizes);
    model->to(device);
    FastPathDifference found;
    CHECK_NOTHROW(found = check_fast_paths(*model, check));
    if (!device.is_cpu()) continue;
    CHECK(found.loss < 1e-5);
    CHECK(found.gradients < 2e-5);
    CHECK(found.search < 1e-4);
  }
}

}  // namespace

TEST_CASE("fast paths equal the formulas to a tenth of the bounds, in every variant") {
  const TrainConfig config{.smoothing = Smoothing::wrong_no_pad, .z_loss = 0.01};
  check_all({});
  check_all({.loss = smoothed_targets(config, kSizes.target, 0)});
}

TEST_CASE("the check in bf16 lets rounding pass, in every variant") {
  if (!testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  check_all({.gradients = true,
             .precision = Precision::bf16,
             .loss = smoothed_targets({.label_smoothing = 0.0, .z_loss = 0.001}, kSizes.target)});
}

TEST_CASE("the check passes on a GPU, in fp32 and bf16, in every variant", "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  check_all({}, torch::kCUDA);
  check_all({.precision = Precision::bf16}, torch::kCUDA);
}

TEST_CASE("a fault of a kernel, a forgotten option and a step that is not forward are found") {
  using Fault = Faulty::Fault;
  const FastPathCheck training{}, search{.gradients = false};
  CHECK_THROWS_WITH(check_fast_paths(*std::make_shared<Faulty>(Fault::kernel), training),
                    contains("runtime.kernels=off"));
  // What differs with one set of pairs alone is a ReLU at 0.
  CHECK_NOTHROW(check_fast_paths(*std::make_shared<Faulty>(Fault::kernel, 1), training));
  CHECK_THROWS_WITH(check_fast_paths(*std::make_shared<Faulty>(Fault::option), training),
                    contains("differs"));
  CHECK_THROWS_WITH(check_fast_paths(*std::make_shared<Faulty>(Fault::search), search),
                    contains("a log-probability of search"));
}

TEST_CASE("the check changes neither weights, gradients, mode nor random numbers") {
  torch::manual_seed(3);
  TransformerConfig config = testing::small_model();
  config.dropout = config.attention_dropout = 0.2;
  Transformer model(config, kSizes);
  FlatParameters parameters(*model);
  parameters.gradients.fill_(2.5);
  const torch::Tensor weights = parameters.values.clone(), gradients = parameters.gradients.clone();
  for (const bool training : {true, false}) {
    model->train(training);
    torch::manual_seed(9);
    const torch::Tensor expected = torch::rand({3});
    torch::manual_seed(9);
    check_fast_paths(*model, {});
    CHECK(torch::equal(torch::rand({3}), expected));
    CHECK(model->is_training() == training);
    CHECK(torch::equal(parameters.values, weights));
    CHECK(torch::equal(parameters.gradients, gradients));
    for (const torch::Tensor& parameter : model->parameters()) CHECK(parameter.grad().defined());
  }
}

TEST_CASE("a model whose results are not finite passes: training and search report it") {
  Transformer model(testing::small_model(), kSizes);
  {
    const torch::NoGradGuard no_grad;
    model->embeddings.of_output().fill_(std::numeric_limits<float>::quiet_NaN());
  }
  CHECK_NOTHROW(check_fast_paths(*model, {}));
}
