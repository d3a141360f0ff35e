#include "app/sweep/status.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "tests/app/sweep/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::Sweeps;

TEST_CASE("a run whose row has changed is an error that names the run") {
  const Sweeps sweeps;
  const SweepPlan before =
      sweeps.plan(sweeps.rows(R"({"name": "B1", "set": {"model": {"d_k": 16}}})"));
  const PlannedRun& run = before.runs[1];
  CHECK(inspect_run(run).stage == RunStage::waiting);
  std::filesystem::create_directories(run.directory);
  write_file_atomically(run.directory / "config.json", write_config(run.experiment).dump());
  CHECK(inspect_run(run).stage == RunStage::started);
  CHECK_NOTHROW(check_unchanged(before));
  const SweepPlan after =
      sweeps.plan(sweeps.rows(R"({"name": "B1", "set": {"model": {"d_k": 32}}})"));
  CHECK(inspect_run(after.runs[1]).stage == RunStage::changed);
  CHECK_THROWS_WITH(check_unchanged(after), contains("B1/seed-5 (model.d_k)"));
  const SweepPlan longer = sweeps.plan(
      sweeps.rows(R"({"name": "B1", "set": {"model": {"d_k": 16}, "train": {"steps": 200000}}})"));
  CHECK_NOTHROW(check_unchanged(longer));  // a run that has not finished may become longer
}

TEST_CASE("a run's progress is read from the end of its log") {
  const Sweeps sweeps;
  const SweepPlan plan = sweeps.plan(sweeps.rows(R"({"name": "B1"})"));
  const PlannedRun& run = plan.runs[0];
  SweepMetrics metrics;
  metrics.evaluators[Metric::loss] = "v";
  CHECK(read_progress(run, metrics).step == 0);
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
  const RunProgress progress = read_progress(run, metrics);
  CHECK(progress.step == 20);
  CHECK(progress.ppl == 8.5);
}

TEST_CASE("a change of runtime options does not change a row") {
  const Sweeps sweeps;
  const auto plan = [&](const std::string& kernels) {
    return sweeps.plan(
        sweeps.rows(R"({"name": "slow", "set": {"runtime": {"kernels": ")" + kernels + R"("}}})"));
  };
  const SweepPlan before = plan("auto"), after = plan("off");
  const PlannedRun& run = before.runs[1];
  std::filesystem::create_directories(run.directory);
  write_file_atomically(run.directory / "config.json", write_config(run.experiment).dump());
  CHECK(inspect_run(after.runs[1]).stage == RunStage::started);
  CHECK_NOTHROW(check_unchanged(after));
}
