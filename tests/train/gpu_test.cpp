// Results on a GPU with LibTorch's kernels, or by its path on a CPU, against the CPU with this
// project's kernels.
#include "kernels/cpu/tiles.h"
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/ops/attention.h"
#include "model/segments.h"
#include "tests/support/catch.h"
#include "tests/support/model_variants.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensors.h"
#include "tests/train/updates.h"

using namespace attn;
using testing::check_losses;
using testing::check_updates;
using testing::CopyingTask;
using testing::in_two_batches;
using testing::Updates;
using testing::updates;

namespace {

bool has_gpu() {
  return testing::machine_has(torch::cuda::is_available(), "GPU");
}

}  // namespace

TEST_CASE("updates of every model by the GPU's path, also with padded batches, are the CPU's") {
  const bool padded = GENERATE(false, true);
  int64_t models = 0;
  const testing::Threads threads(1);  // small products are slower on several
  for (testing::ModelVariant& variant : testing::variants()) {
    CAPTURE(variant.name);
    std::visit([](auto& options) { options.dropout = 0.0; }, variant.config.options);
    const Updates expected = updates(variant.config, in_two_batches(), {.padded = padded});
    const testing::DevicePath path(/*gpu=*/true);
    const Updates got = updates(variant.config, in_two_batches(), {.padded = padded});
    CHECK_FALSE(expected.padded);
    models += got.padded ? 1 : 0;
    check_updates(got, expected);
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
    const Updates expected = updates(variant.config, training, {.padded = gpu}),
                  got = updates(variant.config, narrow, {.padded = gpu});
    CHECK(apart(got, expected) > 1e-4);
    CHECK(apart(got, expected) < 0.2);
    check_losses(got, expected, 0.01);
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
  testing::check_close(results[1], results[0], 1e-4, 1.0);
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

TEST_CASE("training on a GPU has the same weights with graphs, without, and resumed", "[gpu]") {
  if (!has_gpu()) return;
  const Capture capture = cuda_capture(torch::kCUDA);
  if (!testing::machine_has(capture != nullptr, "build with CUDA's headers")) return;
  const Precision precision = GENERATE(Precision::fp32, Precision::bf16);
  use_gpu_kernels(GENERATE(GpuKernels::automatic, GpuKernels::on));
  const testing::TemporaryDirectory directory;
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
    if (i == 20) graphs->save(directory.path());
  }
  resumed->load(directory.path());
  resumed->train_to(40);
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
    torch::dropout(torch::ones({8}, torch::kCUDA), 0.5, true);
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
