#include "app/sweep/planned_power.h"

#include <filesystem>

#include "app/experiment/run_result.h"
#include "base/file.h"
#include "tests/app/sweep/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::Sweeps;

namespace {

// The run of the row is finished with this perplexity.
void finish(const PlannedRun& run, double ppl) {
  std::filesystem::create_directories(run.directory);
  write_file_atomically(run.directory / "config.json", write_config(run.experiment).dump());
  RunResult result{.step = run.experiment.train.steps, .parameters = 1000};
  result.results["v"] = {.values = {{"ppl", ppl}}, .signature = "", .output = "", .text = ""};
  write_result(run.directory, result);
}

}  // namespace

TEST_CASE("the planned seeds detect differences relative to the deviation of the finished runs") {
  const Sweeps sweeps;
  const auto plan = [&](int heads) {
    return sweeps.plan(
        sweeps.rows(R"({"name": "A", "set": {"model": {"heads": )" + std::to_string(heads) + "}}}"),
        {.seeds = 3});
  };
  const SweepPlan before = plan(4);
  CHECK_THAT(
      planned_power(before, ""),
      contains("(3 seeds of the baseline and 3 of a row, power") && !contains("the finished runs"));
  for (const PlannedRun& run : before.runs) {
    const auto seed = static_cast<double>(run.experiment.seed);
    finish(run, run.row == 0 ? 5 + 0.1 * seed : 6 + 0.5 * seed);
  }
  CHECK_THAT(planned_power(before, ""), contains("(4 degrees of freedom)"));
  // Runs of another config are not of this sweep's row.
  CHECK_THAT(planned_power(plan(2), ""), contains("(2 degrees of freedom)"));
}

TEST_CASE("a single row has nothing to detect") {
  const Sweeps sweeps;
  CHECK(planned_power(sweeps.plan(R"({"base": "base.json", "rows": [{"name": "base"}]})"), "")
            .empty());
}
