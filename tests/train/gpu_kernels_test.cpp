// What runs by this project's kernels for a GPU (kernels/cuda): emulated, on a CPU by the GPU's
// path, against the CPU's own kernels; and on a GPU, where there is one.
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/cuda/graph.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/models.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/tensors.h"

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
                      bool graphs = false) {
  const EncodedCorpus pairs = testing::copying_corpus();
  BatchStream stream(pairs, {.batch_tokens = 60, .seed = 5});
  torch::manual_seed(1);
  const auto model = make_model(config, {testing::kCopyingClasses, testing::kCopyingClasses});
  model->to(device);
  TrainConfig training = testing::copying_training();
  training.accumulate = 2;
  training.z_loss = 0.001;
  Trainer trainer(training, 9, *model, stream, {},
                  padded ? std::optional(class_rule(60, 0)) : std::nullopt);
  if (graphs) {
    trainer.use_graphs([](const auto& work) { return std::make_unique<RepeatedWork>(work); },
                       [](const std::string& line) { FAIL(line); });
  }
  KernelRun out{.losses = {}, .gradients = {}, .padded = trainer.classes().has_value()};
  for (int i = 0; i < 4; ++i) {
    out.losses.push_back(trainer.step().loss);
    if (i == 0) out.gradients = trainer.parameters().gradients.cpu().clone();
  }
  return out;
}

void check_runs(const KernelRun& got, const KernelRun& expected) {
  CHECK(max_difference(got.gradients, expected.gradients) < 1e-5);
  for (size_t i = 0; i < got.losses.size(); ++i) {
    CHECK(got.losses[i] == Approx(expected.losses[i]).epsilon(1e-4));
  }
}

TransformerConfig with_dropout() {
  TransformerConfig config = testing::copying_model();
  config.dropout = 0.3;
  return config;
}

std::vector<TransformerConfig> transformers() {
  std::vector<TransformerConfig> all(4, with_dropout());
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

TEST_CASE("updates by a GPU's kernels on a GPU are the CPU's with the same dropout", "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  const bool padded = GENERATE(false, true);
  const testing::Threads threads(1);
  use_gpu_kernels(GpuKernels::on);
  REQUIRE(gpu_kernels_missing(0).empty());
  for (const TransformerConfig& config : transformers()) {
    CAPTURE(padded, enum_name(config.norm), enum_name(config.norm_kind));
    check_runs(run_updates(config, padded, torch::kCUDA), run_updates(config, padded));
  }
  use_gpu_kernels(GpuKernels::automatic);
}
