// How a sweep runs: its costs, the state of its runs, and Slurm.
#include "app/sweep/runner.h"

#include <fstream>
#include <string>

#include "app/sweep/costs.h"
#include "base/file.h"
#include "data/text_hashes.h"
#include "tests/app/sweep/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::Sweeps;

namespace {

void check(SweepPlan plan, TextHashes hashes = {}) {
  check_configs_unchanged(plan);
  check_texts_unchanged(plan, hashes);
}

}  // namespace

TEST_CASE("as many runs share GPUs as fit into their memory, one per core and 16 per GPU") {
  CHECK(jobs_that_fit(80e9, 5e9, 1, 64) == 12);  // 72 GB by 6
  CHECK(jobs_that_fit(80e9, 1e9, 1, 64) == 16);
  CHECK(jobs_that_fit(80e9, 1e9, 8, 24) == 24);
  CHECK(jobs_that_fit(80e9, 1e9, 8, 4) == 8);
  CHECK(jobs_that_fit(16e9, 40e9, 2, 64) == 2);
  CHECK(jobs_that_fit(0, 1e9, 1, 64) == 1);  // unknown
}

TEST_CASE("jobs share the GPUs that the sweep was given, by number or by name") {
  CHECK(gpu_of_slot(0, 4, nullptr) == "0");
  CHECK(gpu_of_slot(5, 4, nullptr) == "1");
  CHECK(gpu_of_slot(0, 2, "3,5") == "3");
  CHECK(gpu_of_slot(1, 2, "3,5") == "5");
  CHECK(gpu_of_slot(2, 2, "3,5") == "3");
  CHECK(gpu_of_slot(1, 2, "GPU-0a1b, GPU-2c3d") == "GPU-2c3d");
  CHECK(gpu_of_slot(1, 2, "3,5,-1,7") == "5");  // what follows an unknown name isn't visible
  CHECK(gpu_of_slot(1, 2, "").empty());         // no GPU was given, so none is taken
}

TEST_CASE("a row costs as much as the measured one by its FLOPs and parameters") {
  Experiment base;
  base.eval.clear();
  const int64_t parameters = parameter_count(base.model, {900, 700});
  const double fixed = static_cast<double>(parameters * base.train.bytes_per_parameter());
  const StepBenchmark step{.parameters = parameters,
                           .source_vocabulary = 900,
                           .target_vocabulary = 700,
                           .flops_per_update = 2e9,
                           .tokens_per_pair = 20,
                           .flops_per_second = 1e9,
                           .memory = fixed + 1e9};
  const double steps = static_cast<double>(base.train.steps);
  const RowCost same = scaled_cost(base, base, step);
  CHECK(same.parameters == parameters);
  CHECK(same.flops == Approx(2e9 * steps));
  CHECK(same.seconds == Approx(2 * steps));
  CHECK(same.memory == Approx(fixed + 1e9));

  Experiment four = base;  // batches of four times as many tokens
  four.data.batch_tokens *= 4;
  CHECK(scaled_cost(four, base, step).seconds == Approx(8 * steps));
  CHECK(scaled_cost(four, base, step).memory == Approx(fixed + 2e9));

  Experiment words = base;
  words.data.tokenizer = TokenizerKind::words;
  CHECK(scaled_cost(words, base, step).parameters ==
        parameter_count(base.model, {words.data.vocab_size, words.data.vocab_size}));

  Experiment evaluated = base;
  evaluated.eval = {{.name = "valid", .every = 0, .options = LossEvaluation{}}};
  CHECK(scaled_cost(evaluated, base, step).seconds > same.seconds);
}

TEST_CASE("an update's FLOPs follow the batch and the model") {
  Experiment base, wide;
  wide.model.get<TransformerConfig>().d_ff *= 2;
  Experiment twice = base;
  twice.train.accumulate = 2;
  CHECK(update_flops(wide, {32000, 32000}) > update_flops(base, {32000, 32000}));
  CHECK(update_flops(twice, {32000, 32000}) == Approx(2 * update_flops(base, {32000, 32000})));
}

TEST_CASE("an evaluation costs its hypotheses: those of the beam, or the samples") {
  Experiment experiment;
  experiment.eval = {{.name = "test", .every = 0, .options = BleuEvaluation{}}};
  SearchConfig& search = experiment.search;
  const auto flops = [&] { return evaluation_flops(experiment, {32000, 32000}, 25, 100); };
  search.beam = 1;
  const double one = flops();
  search.beam = 4;
  CHECK(flops() == Approx(4 * one));
  search.method = SearchMethod::sample;
  search.samples = 6;
  CHECK(flops() == Approx(6 * one));
  experiment.eval[0].search = {{"samples", 3}};
  CHECK(flops() == Approx(3 * one));
}

TEST_CASE("an evaluation costs each time of its schedule, the last update and the average") {
  Experiment experiment;
  experiment.train.steps = 1000;
  experiment.eval = {{.name = "valid", .every = 0, .options = LossEvaluation{}}};
  const auto flops = [&](int64_t every, int64_t average_last) {
    experiment.eval[0].every = every;
    experiment.train.average_last = average_last;
    return evaluation_flops(experiment, {32000, 32000}, 25, 100);
  };
  const double one = flops(0, 0);
  CHECK(flops(0, 5) == Approx(one));
  CHECK(flops(250, 0) == Approx(4 * one));
  CHECK(flops(250, 5) == Approx(5 * one));
  CHECK(flops(300, 0) == Approx(4 * one));
  CHECK(flops(300, 5) == Approx(5 * one));
}

TEST_CASE("the batch script requests what the file says, quoted for the shell") {
  const Sweeps sweeps;
  const auto script = [&](const std::string& slurm, const std::string& device = "auto",
                          std::optional<int> threads = {}) {
    const SweepPlan plan = sweeps.plan(
        R"({"base": "base.json", "rows": [{"name": "a"}, {"name": "b"}], "slurm": )" + slurm + "}");
    return slurm_script(plan, device, threads);
  };
  const std::string one = R"({"partition": "gpu", "time": "02:00:00", "gpus": 1, "at_once": 4,
      "notice": 30, "options": ["--qos=long"], "setup": ["module load cuda"]})";
  for (const char* part :
       {"#SBATCH --array=0-1%4", "#SBATCH --partition=gpu", "#SBATCH --time=02:00:00",
        "#SBATCH --gpus-per-node=1", "#SBATCH --signal=B:USR1@30", "#SBATCH --requeue",
        "#SBATCH --qos=long", "module load cuda", "device='cuda'\nthreads=3\n"}) {
    CHECK_THAT(script(one, "auto", 3), contains(part) && !contains("--mem"));
  }
  CHECK_THAT(script(one, "cpu"), contains("device='cpu'\n"));
  // Several tasks are started by srun, or by mpirun where srun has no PMIx.
  const std::string several = script(R"({"tasks": 4, "nodes": 2, "gpus_per_task": 1})");
  for (const char* part :
       {"#SBATCH --ntasks=4\n", "#SBATCH --nodes=2\n", "#SBATCH --gpus-per-task=1\n",
        "#SBATCH --gpu-bind=none\n", "\ntasks=4\n", "srun --mpi=pmix", "mpirun -np \"$tasks\""}) {
    CHECK_THAT(several, contains(part));
  }
  // sbatch splits its lines at spaces.
  CHECK_THAT(script(R"({"partition": "two words"})"), contains("--partition=\"two words\"\n"));
}

TEST_CASE(
    "a run whose row has changed is an error that names it; it may become longer, or slower") {
  const Sweeps sweeps;
  const auto plan = [&](const std::string& set) {
    return sweeps.plan(sweeps.rows(R"({"name": "B1", "set": {"model": {"d_k": )" + set + "}}"));
  };
  const SweepPlan before = plan("16}");
  const PlannedRun& run = before.runs[1];
  std::filesystem::create_directories(run.directory);
  write_file_atomically(run.directory / "config.json", write_config(run.experiment).dump());
  CHECK_NOTHROW(check(before));
  CHECK_THROWS_WITH(check(plan("32}")), contains("B1/seed-5 (model.d_k)"));
  CHECK_NOTHROW(check(plan(R"(16}, "train": {"steps": 200000})")));
  CHECK_NOTHROW(check(plan(R"(16}, "runtime": {"kernels": "off"})")));
}

TEST_CASE("a run's progress is read from the end of its log") {
  const Sweeps sweeps;
  const SweepPlan plan = sweeps.plan(sweeps.rows(R"({"name": "B1"})"));
  const PlannedRun& run = plan.runs[0];
  SweepMetrics metrics;
  metrics[Metric::loss] = "v";
  CHECK(progress_of(run, metrics) == "base/seed-5 0/100000");
  std::filesystem::create_directories(run.directory);
  std::ofstream(run.directory / "metrics.jsonl")
      << R"({"kind": "train", "step": 10, "tokens_per_second": 50, "seconds": 2})"
      << "\n"
      << R"({"kind": "eval", "name": "v", "step": 10, "ppl": 8.5, "eval_seconds": 0.5})"
      << "\n"
      << R"({"kind": "eval", "name": "other", "step": 10, "ppl": 3})"
      << "\n"
      << R"({"kind": "train", "step": 20, "tokens_per_second": 60, "seconds": 4})"
      << "\n"
      << R"({"kind": "train", "st)";
  CHECK(progress_of(run, metrics) == "base/seed-5 20/100000 ppl 8.50");
}
