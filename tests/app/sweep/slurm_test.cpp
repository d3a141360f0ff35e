#include "app/sweep/slurm.h"

#include <string>

#include "tests/app/sweep/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::Sweeps;

TEST_CASE("the batch script requests the file's resources, quoted for the shell") {
  const Sweeps sweeps;
  SweepPlan plan = sweeps.plan(
      R"({"base": "base.json", "rows": [{"name": "a"}, {"name": "b"}],
          "slurm": {"partition": "gpu", "time": "02:00:00", "gpus": 1, "at_once": 4, "notice": 30,
                    "options": ["--qos=long"], "setup": ["module load cuda"]}})");
  const std::string script = slurm_script(plan, {.device = "auto", .threads = 3});
  for (const char* part :
       {"#SBATCH --array=0-1%4", "#SBATCH --partition=gpu", "#SBATCH --time=02:00:00",
        "#SBATCH --gpus-per-node=1", "#SBATCH --signal=B:USR1@30", "#SBATCH --requeue",
        "#SBATCH --qos=long", "module load cuda", "device='cuda'\nthreads=3\n"}) {
    CHECK_THAT(script, contains(part));
  }
  CHECK(script.find("--mem") == std::string::npos);
  CHECK_THAT(slurm_script(plan, {.device = "cpu"}), contains("device='cpu'\n"));
}

TEST_CASE("several tasks are started by srun, or by mpirun where srun has no PMIx") {
  const Sweeps sweeps;
  SweepPlan plan = sweeps.plan(
      R"({"base": "base.json", "rows": [{"name": "a"}],
          "slurm": {"tasks": 4, "nodes": 2, "gpus_per_task": 1}})");
  const std::string script = slurm_script(plan, {});
  for (const char* part :
       {"#SBATCH --ntasks=4\n", "#SBATCH --nodes=2\n", "#SBATCH --gpus-per-task=1\n", "\ntasks=4\n",
        "srun --mpi=pmix", "mpirun -np \"$tasks\""}) {
    CHECK_THAT(script, contains(part));
  }
  CHECK_THROWS_WITH(
      sweeps.plan(R"({"base": "base.json", "rows": [{"name": "a"}], "slurm": {"nodes": 2}})"),
      contains("slurm.nodes"));
}

TEST_CASE("a name that sbatch would split or expand is an error that names its option") {
  const Sweeps sweeps;
  SweepPlan plan = sweeps.plan(
      R"({"base": "base.json", "rows": [{"name": "a"}], "slurm": {"partition": "two words"}})");
  CHECK_THROWS_WITH(slurm_script(plan, {}), contains("--partition: \"two words\""));
  plan.file.slurm.partition = "";
  plan.source = "two\nlines.json";
  CHECK_THROWS_WITH(slurm_script(plan, {}), contains("--job-name"));
  plan.source = "s.json";
  plan.directory = "100%";
  CHECK_THROWS_WITH(slurm_script(plan, {}), contains("--output"));
}
