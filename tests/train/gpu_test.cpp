// Results on a GPU with LibTorch's kernels, or by its path on a CPU, against the CPU with this
// project's kernels.
#include "kernels/cpu/tiles.h"
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/ops/attention.h"
#include "model/segments.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/model_variants.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensors.h"
#include "train/checkpoint.h"

using namespace attn;
using testing::CopyingTask;
using testing::max_difference;

namespace {

bool has_gpu() {
  return testing::machine_has(torch::cuda::is_available(), "GPU");
}

TrainConfig in_two_batches(Precision precision) {
  TrainConfig config = testing::copying_training();
  config.accumulate = 2;
  config.precision = precision;
  return config;
}

struct Updates {
  bool padded = false;
  std::vector<double> losses;
  torch::Tensor gradients;  // of the first
};

Updates updates(const ModelConfig& config, bool padded,
                const TrainConfig& training = in_two_batches(Precision::fp32)) {
  const EncodedCorpus pairs = testing::copying_corpus();
  BatchStream stream(pairs, {.batch_tokens = 60, .seed = 5});
  torch::manual_seed(1);
  const auto model = make_model(config, testing::kCopyingSizes);
  Trainer trainer(
      training, 9, *model, stream, {},
      padded ? std::optional(class_rule(60, model->max_length().value_or(0))) : std::nullopt);
  Updates out{.padded = trainer.classes().has_value()};
  for (int i = 0; i < 2; ++i) {
    out.losses.push_back(trainer.step().loss);
    if (i == 0) out.gradients = trainer.parameters().gradients.clone();
  }
  return out;
}

}  // namespace

TEST_CASE("updates of every model by the GPU's path, also with padded batches, are the CPU's") {
  const bool padded = GENERATE(false, true);
  int64_t models = 0;
  const testing::Threads threads(1);  // small products are slower on several
  for (testing::ModelVariant& variant : testing::variants()) {
    CAPTURE(variant.name);
    std::visit([](auto& options) { options.dropout = 0.0; }, variant.config.options);
    const Updates expected = updates(variant.config, padded);
    const testing::DevicePath path(/*gpu=*/true);
    const Updates got = updates(variant.config, padded);
    CHECK_FALSE(expected.padded);
    models += got.padded ? 1 : 0;
    CHECK(max_difference(got.gradients, expected.gradients) < 1e-5);
    for (size_t i = 0; i < got.losses.size(); ++i) {
      CHECK(got.losses[i] == Approx(expected.losses[i]).epsilon(1e-4));
    }
  }
  CHECK((models > 40) == padded);
}

TEST_CASE("a residual stream in bf16 changes gradients by its rounding, in every Transformer") {
  if (!testing::machine_has(cpu::has_bf16_instructions(), "bf16 instructions")) return;
  const testing::Threads threads(1);
  const bool gpu = GENERATE(false, true);
  const testing::DevicePath path(gpu);
  TrainConfig training = in_two_batches(Precision::bf16), narrow = training;
  narrow.residual_precision = Precision::bf16;
  for (testing::ModelVariant& variant : testing::variants()) {
    auto* transformer = std::get_if<TransformerConfig>(&variant.config.options);
    if (transformer == nullptr) continue;
    CAPTURE(variant.name, gpu);
    transformer->dropout = 0.0;
    const Updates expected = updates(variant.config, gpu, training),
                  got = updates(variant.config, gpu, narrow);
    const double difference =
        ((got.gradients - expected.gradients).norm() / expected.gradients.norm()).item<double>();
    CHECK(difference > 1e-4);
    CHECK(difference < 0.2);
    for (size_t i = 0; i < got.losses.size(); ++i) {
      CHECK(got.losses[i] == Approx(expected.losses[i]).epsilon(0.01));
    }
  }
}

TEST_CASE("attention on a GPU equals the CPU's, with gradients", "[gpu]") {
  if (!has_gpu()) return;
  // The last one requires the padded layout.
  const auto [d_k, d_v] =
      GENERATE(std::pair<int64_t, int64_t>{8, 8}, std::pair<int64_t, int64_t>{64, 64},
               std::pair<int64_t, int64_t>{32, 16}, std::pair<int64_t, int64_t>{5, 7});
  const bool causal = GENERATE(false, true);
  CAPTURE(d_k, d_v, causal);
  torch::manual_seed(4);
  const int64_t heads = 2;
  const std::vector<int64_t> target{4, 1, 70, 9}, source{5, 3, 33, 1};
  const Segments queries(target), keys(causal ? target : source);
  const torch::Tensor upstream = torch::randn({queries.rows(), heads * d_v});
  const std::vector<torch::Tensor> in{torch::randn({queries.rows(), heads * d_k}),
                                      torch::randn({keys.rows(), heads * d_k}),
                                      torch::randn({keys.rows(), heads * d_v})};
  std::vector<std::vector<torch::Tensor>> results;
  for (const torch::Device device : {torch::Device(torch::kCPU), torch::Device(torch::kCUDA)}) {
    const Segments own_queries(target, device), own_keys(causal ? target : source, device);
    std::vector<torch::Tensor> own;
    for (const torch::Tensor& x : in) own.push_back(x.detach().to(device).requires_grad_());
    const torch::Tensor out = packed_attention(own[0], own[1], own[2],
                                               {.heads = heads,
                                                .query_offsets = own_queries.offsets(),
                                                .key_offsets = own_keys.offsets(),
                                                .causal = causal,
                                                .query_rows = own_queries.device_rows(),
                                                .key_rows = own_keys.device_rows()});
    out.backward(upstream.to(device));
    results.push_back({out, own[0].grad(), own[1].grad(), own[2].grad()});
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    CHECK(max_difference(results[0][i], results[1][i].cpu()) < 1e-4);
  }
}

TEST_CASE("attention's gradients on a GPU are of the dropout that its output had", "[gpu]") {
  if (!has_gpu()) return;
  torch::manual_seed(4);
  const std::vector<int64_t> lengths{4, 1, 70, 9};
  const Segments rows(lengths, torch::kCUDA);
  const auto states = [&] { return torch::randn({rows.rows(), 64}, torch::kCUDA); };
  const torch::Tensor q = states(), k = states(), v = states().requires_grad_(),
                      upstream = states();
  const torch::Tensor out = packed_attention(q, k, v,
                                             {.heads = 4,
                                              .query_offsets = rows.offsets(),
                                              .key_offsets = rows.offsets(),
                                              .dropout = 0.5,
                                              .query_rows = rows.device_rows(),
                                              .key_rows = rows.device_rows()});
  out.backward(upstream);
  // The output is linear in the values.
  CHECK((v.grad() * v).sum().item<double>() ==
        Approx((upstream * out).sum().item<double>()).epsilon(1e-3));
}

TEST_CASE("updates on a GPU are the CPU's, and in bf16 close to them", "[gpu]") {
  if (!has_gpu()) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::bf16);
  CAPTURE(enum_name(precision));
  TransformerConfig shape = testing::copying_model();
  shape.dropout = 0.0;
  CopyingTask reference(in_two_batches(Precision::fp32), 60, shape);
  CopyingTask gpu(in_two_batches(precision), 60, shape, torch::kCUDA);
  const double tolerance = precision == Precision::fp32 ? 1e-3 : 5e-2;
  for (int i = 0; i < 20; ++i) {
    const StepReport expected = reference.trainer.step(), got = gpu.trainer.step();
    CHECK(got.loss == Approx(expected.loss).epsilon(tolerance));
    CHECK(got.nll == Approx(expected.nll).epsilon(tolerance));
  }
}

TEST_CASE("training on a GPU has the same weights with graphs, without, and resumed", "[gpu]") {
  if (!has_gpu()) return;
  const Capture capture = cuda_capture(torch::kCUDA);
  if (!testing::machine_has(capture != nullptr, "build with CUDA's headers")) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::bf16);
  use_gpu_kernels(GENERATE(GpuKernels::automatic, GpuKernels::on));
  const testing::TemporaryDirectory directory;
  const auto weights_file = directory.path() / "model", state_file = directory.path() / "state";
  std::vector<std::string> said;
  const auto task = [&](bool graphs) {
    auto made = std::make_unique<CopyingTask>(in_two_batches(precision), 60,
                                              testing::copying_model(), torch::kCUDA);
    if (graphs) made->trainer.use_graphs([&](const auto& line) { said.push_back(line); }, capture);
    return made;
  };
  const auto eager = task(false), graphs = task(true), resumed = task(true);
  for (int i = 0; i < 40; ++i) {
    CHECK(eager->trainer.step().loss == graphs->trainer.step().loss);
    if (i != 20) continue;
    save_weights(weights_file, *graphs->model);
    save_training_state(state_file, graphs->trainer, graphs->trainer.collect_state());
  }
  load_weights(weights_file, *resumed->model);
  load_training_state(state_file, resumed->trainer, resumed->trainer.collect_state());
  resumed->stream.restore(resumed->trainer.state.stream);
  while (resumed->trainer.state.step < 40) resumed->trainer.step();
  CHECK(torch::equal(eager->weights(), graphs->weights()));
  CHECK(torch::equal(eager->weights(), resumed->weights()));
  CHECK(said.empty());
  use_gpu_kernels(GpuKernels::automatic);
}

// The last of all: no other graph can be captured by this process.
TEST_CASE("work that cannot be captured runs without graphs, and so does what follows", "[gpu]") {
  if (!has_gpu()) return;
  const Capture capture = cuda_capture(torch::kCUDA);
  if (!testing::machine_has(capture != nullptr, "build with CUDA's headers")) return;
  const SideStream stream(torch::kCUDA);
  const torch::Tensor sum =
      torch::zeros({1}, torch::TensorOptions(torch::kCUDA).dtype(torch::kInt64));
  std::vector<std::string> said;
  ClassGraphs graphs(torch::kCUDA, {sum}, [&](const StaticBatch& own) {
    sum.add_(own.source.tokens_N.cpu().sum().item<int64_t>());  // reads from the GPU
  });
  graphs.use(capture, [&](const std::string& line) { said.push_back(line); });
  const EncodedCorpus pairs = testing::copying_corpus();
  BatchStream batches(pairs, {.batch_tokens = 60, .seed = 5});
  int64_t expected = 0;
  for (int i = 0; i < 20; ++i) {
    const StaticBatch batch = static_batch(batches.next(), class_rule(60, 0));
    expected += batch.source.tokens_N.sum().item<int64_t>();
    graphs.run(batch, 1);
  }
  CHECK(sum.item<int64_t>() == expected);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], testing::contains("CUDA graphs are off: a capture failed"));
}
