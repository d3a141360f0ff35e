#include "app/sweep/runner.h"

#include "app/sweep/costs.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

SweepPlan plan_of(std::vector<int64_t> steps, int64_t seeds) {
  SweepPlan plan;
  plan.rows.resize(steps.size());
  for (int64_t seed = 0; seed < seeds; ++seed) {
    for (size_t row = 0; row < steps.size(); ++row) {
      PlannedRun run{.row = row};
      run.experiment.train.steps = steps[row];
      plan.runs.push_back(run);
    }
  }
  return plan;
}

}  // namespace

TEST_CASE("runs start by seed, the longest of a seed first, else in the order of the plan") {
  CHECK(start_order(plan_of({100, 300, 200}, 2)) == std::vector<size_t>{1, 2, 0, 4, 5, 3});
  CHECK(start_order(plan_of({50, 50, 50}, 1)) == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("a wider model is a longer run") {
  SweepPlan plan = plan_of({100, 100}, 1);
  std::get<TransformerConfig>(plan.runs[1].experiment.model.options).d_ff *= 2;
  CHECK(run_flops(plan.runs[1]) > run_flops(plan.runs[0]));
  CHECK(start_order(plan) == std::vector<size_t>{1, 0});
}

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
