// What runs by this project's kernels for a GPU (kernels/cuda): emulated, on a CPU by the GPU's
// path, against the CPU's own kernels; and on a GPU, where there is one.
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/cpu/tiles.h"
#include "kernels/cuda/graph.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/models.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tensors.h"
#include "train/checkpoint.h"

using namespace attn;
using testing::max_difference;

namespace {

struct KernelRun {
  std::vector<double> losses;
  torch::Tensor gradients;  // of the first update
  bool padded = false;
};

/// Captured work that is replayed by doing it again, on the tensors and host values of its capture.
class RepeatedWork : public Graph {
 public:
  explicit RepeatedWork(std::function<void()> work) : work_(std::move(work)) {}
  void replay() override { work_(); }

 private:
  std::function<void()> work_;
};

KernelRun run_updates(const ModelConfig& config, bool padded, torch::Device device = torch::kCPU,
                      bool graphs = false, Precision precision = Precision::fp32,
                      Precision residual = Precision::fp32) {
  const EncodedCorpus pairs = testing::copying_corpus();
  BatchStream stream(pairs, {.batch_tokens = 60, .seed = 5});
  torch::manual_seed(1);
  const auto model = make_model(config, {testing::kCopyingClasses, testing::kCopyingClasses});
  model->to(device);
  TrainConfig training = testing::copying_training();
  training.accumulate = 2;
  training.z_loss = 0.001;
  training.precision = precision;
  training.residual_precision = residual;
  Trainer trainer(training, 9, *model, stream, {},
                  padded ? std::optional(class_rule(60, 0)) : std::nullopt);
  if (graphs) {
    trainer.use_graphs([](const std::string& line) { FAIL(line); },
                       [](const auto& work) { return std::make_unique<RepeatedWork>(work); });
  }
  KernelRun out{.losses = {}, .gradients = {}, .padded = trainer.classes().has_value()};
  for (int i = 0; i < 4; ++i) {
    out.losses.push_back(trainer.step().loss);
    if (i == 0) out.gradients = trainer.parameters().gradients.cpu().clone();
  }
  return out;
}

void check_losses(const KernelRun& got, const KernelRun& expected, double tolerance) {
  for (size_t i = 0; i < got.losses.size(); ++i) {
    CHECK(got.losses[i] == Approx(expected.losses[i]).epsilon(tolerance));
  }
}

void check_runs(const KernelRun& got, const KernelRun& expected) {
  CHECK(max_difference(got.gradients, expected.gradients) < 1e-5);
  check_losses(got, expected, 1e-4);
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
    const KernelRun expected = run_updates(config, padded);
    const testing::EmulatedGpu gpu;
    const KernelRun got = run_updates(config, padded);
    CHECK(got.padded == padded);
    CHECK(gpu.launches() > 100);
    check_runs(got, expected);
    if (!padded) break;  // the models differ in their kernels alone, which take a while
    if (&config != &all.front()) continue;
    CHECK(run_updates(config, padded, torch::kCPU, /*graphs=*/true).losses == got.losses);
  }
}

TEST_CASE("bf16 updates by a GPU's kernels, emulated, with the residual stream in either type") {
  if (!testing::machine_has(cpu::has_bf16_instructions(), "bf16 instructions")) return;
  const testing::Threads threads(1);
  const auto residual = GENERATE(Precision::fp32, Precision::bf16);
  const std::vector<TransformerConfig> all = transformers();
  for (const TransformerConfig& config : all) {
    CAPTURE(enum_name(residual), enum_name(config.norm));
    const KernelRun expected = run_updates(config, true);
    const testing::EmulatedGpu gpu;
    const KernelRun got =
        run_updates(config, true, torch::kCPU, /*graphs=*/true, Precision::bf16, residual);
    check_losses(got, expected, 0.02);
    const torch::Tensor difference = got.gradients - expected.gradients;
    CHECK((difference.norm() / expected.gradients.norm()).item<double>() < 0.1);
  }
}

TEST_CASE("updates by a GPU's kernels on a GPU are the CPU's with the same dropout", "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  const bool padded = GENERATE(false, true);
  const testing::Threads threads(1);
  use_gpu_kernels(GpuKernels::on);
  REQUIRE(gpu_kernels_missing(0).empty());
  for (const TransformerConfig& config : transformers()) {
    CAPTURE(padded, enum_name(config.norm), enum_name(config.norm_kind));
    const KernelRun expected = run_updates(config, padded);
    check_runs(run_updates(config, padded, torch::kCUDA), expected);
    check_losses(run_updates(config, padded, torch::kCUDA, padded, Precision::bf16), expected,
                 5e-2);
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
  const auto weights_file = directory.path() / "model", state_file = directory.path() / "state";
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
      save_weights(weights_file, *task->model);
    }
    save_training_state(state_file, task->trainer, task->trainer.collect_state());
  }
  resumed->trainer.step();  // makes copies of other weights
  load_weights(weights_file, *resumed->model);
  load_training_state(state_file, resumed->trainer, resumed->trainer.collect_state());
  resumed->stream.restore(resumed->trainer.state.stream);
  while (resumed->trainer.state.step < kUpdates) resumed->trainer.step();
  CHECK(torch::equal(task->weights(), resumed->weights()));
  use_gpu_kernels(GpuKernels::automatic);
}
