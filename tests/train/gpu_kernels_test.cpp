// What runs by this project's kernels for a GPU (kernels/cuda): emulated, on a CPU by the GPU's
// path, against the CPU's own kernels; and on a GPU, where there is one.
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/cpu/tiles.h"
#include "kernels/cuda/graph.h"
#include "tests/support/catch.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/updates.h"

using namespace attn;
using testing::check_losses;
using testing::check_updates;
using testing::Updates;
using testing::updates;

namespace {

TrainConfig with_z_loss(Precision precision = Precision::fp32) {
  TrainConfig training = testing::in_two_batches(precision);
  training.z_loss = 0.001;
  return training;
}

std::unique_ptr<Graph> repeated(const std::function<void()>& work) {
  return std::make_unique<testing::RepeatedWork>(work);
}

std::vector<TransformerConfig> transformers() {
  std::vector<TransformerConfig> all(4, testing::copying_model());
  for (TransformerConfig& config : all) config.dropout = 0.3;
  all[1].norm = Norm::pre;
  all[1].norm_kind = NormKind::rms;
  all[2].norm_kind = NormKind::scale;
  all[2].position = Position::learned;
  all[3].norm = Norm::deep;
  all[3].qk_norm = QkNorm::rms;
  return all;
}

}  // namespace

TEST_CASE("updates by a GPU's kernels, emulated, are the CPU's with the same dropout") {
  const bool padded = GENERATE(false, true);
  const testing::Threads threads(1);  // on several, each part has its own seed
  const std::vector<TransformerConfig> all = transformers();
  for (const TransformerConfig& config : all) {
    CAPTURE(padded, enum_name(config.norm), enum_name(config.norm_kind));
    testing::UpdateOptions options{.count = 4, .padded = padded};
    const Updates expected = updates(config, with_z_loss(), options);
    const testing::EmulatedGpu gpu;
    const Updates got = updates(config, with_z_loss(), options);
    CHECK(got.padded == padded);
    CHECK(gpu.launches() > 100);
    check_updates(got, expected);
    if (!padded) break;  // the models differ in their kernels alone, which take a while
    if (&config != &all.front()) continue;
    options.capture = repeated;
    CHECK(updates(config, with_z_loss(), options).losses == got.losses);
  }
}

TEST_CASE("bf16 updates by a GPU's kernels, emulated, with the residual stream in either type") {
  if (!testing::machine_has(cpu::has_bf16_instructions(), "bf16 instructions")) return;
  const testing::Threads threads(1);
  TrainConfig narrow = with_z_loss(Precision::bf16);
  narrow.residual_precision = GENERATE(Precision::fp32, Precision::bf16);
  for (const TransformerConfig& config : transformers()) {
    CAPTURE(enum_name(narrow.residual_precision), enum_name(config.norm));
    const Updates expected = updates(config, with_z_loss(), {.count = 4, .padded = true});
    const testing::EmulatedGpu gpu;
    const Updates got = updates(config, narrow, {.count = 4, .padded = true, .capture = repeated});
    check_losses(got, expected, 0.02);
    CHECK(apart(got, expected) < 0.1);
  }
}

TEST_CASE("updates on a GPU, by its kernels or LibTorch's, are the CPU's, in bf16 close to them",
          "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  const bool padded = GENERATE(false, true), kernels = GENERATE(false, true);
  const testing::Threads threads(1);
  use_gpu_kernels(kernels ? GpuKernels::on : GpuKernels::off);
  if (kernels) REQUIRE(gpu_kernels_missing(0).empty());
  for (TransformerConfig config : transformers()) {
    CAPTURE(padded, kernels, enum_name(config.norm), enum_name(config.norm_kind));
    if (!kernels) config.dropout = 0.0;  // LibTorch's masks are others
    testing::UpdateOptions options{.count = 4, .padded = padded};
    const Updates expected = updates(config, with_z_loss(), options);
    options.device = torch::kCUDA;
    check_updates(updates(config, with_z_loss(), options), expected);
    if (padded) options.capture = repeated;
    check_losses(updates(config, with_z_loss(Precision::bf16), options), expected, 5e-2);
  }
  use_gpu_kernels(GpuKernels::automatic);
}

TEST_CASE("bf16 training by copies of the weights is LibTorch's, also averaged and resumed") {
  if (!testing::machine_has(cpu::has_bf16_instructions(), "bf16 instructions")) return;
  const testing::Threads threads(1);
  TransformerConfig shape = testing::copying_model();
  shape.dropout = 0.0;  // LibTorch's masks are others
  TrainConfig training = testing::copying_training();
  training.accumulate = 2;
  training.ema = 0.5;
  training.precision = Precision::bf16;
  const auto made = [&] { return std::make_unique<testing::CopyingTask>(training, 60, shape); };
  constexpr int kUpdates = 12;
  std::vector<double> expected;
  {
    const testing::DevicePath path(/*gpu=*/true);
    const auto plain = made();
    for (int i = 0; i < kUpdates; ++i) expected.push_back(plain->trainer.step().loss);
  }
  const testing::EmulatedGpu gpu;
  use_gpu_kernels(GpuKernels::linear);
  const testing::TemporaryDirectory directory;
  const auto task = made(), resumed = made();
  const Batch batch = BatchStream(task->pairs, {.batch_tokens = 60, .seed = 5}).next();
  // Of the weights themselves, without the trainer's copies.
  const auto evaluated = [&] {
    const torch::NoGradGuard no_grad;
    const torch::Tensor targets = int64_tensor(batch.target_out.tokens, torch::kCPU);
    const torch::Tensor x = task->model->forward(token_sequences(batch.source, torch::kCPU),
                                                 token_sequences(batch.target_in, torch::kCPU));
    return output_loss(*task->model, x, targets, smoothed_targets({}, 20)).loss.item<double>();
  };
  for (int i = 0; i < kUpdates; ++i) {
    CHECK(task->trainer.step().loss == Approx(expected[static_cast<size_t>(i)]).epsilon(1e-5));
    if (i != kUpdates / 2) continue;
    const double current = evaluated();
    {
      const AveragedWeights averaged(task->trainer.average());
      const double of_average = evaluated();
      CHECK(of_average != current);
      const testing::DevicePath path(/*gpu=*/false);
      CHECK(of_average == Approx(evaluated()).epsilon(1e-5));
    }
    task->save(directory.path());
  }
  resumed->trainer.step();  // makes copies of other weights
  resumed->load(directory.path());
  resumed->train_to(kUpdates);
  CHECK(torch::equal(task->weights(), resumed->weights()));
  use_gpu_kernels(GpuKernels::automatic);
}
