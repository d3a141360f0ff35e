#include "app/sweep/slurm.h"

#include <string>

#include "app/machine/shell.h"
#include "app/sweep/slurm_time.h"
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
  const std::string script = slurm_script(plan, {.arguments = shell_quoted("it's"), .threads = 3});
  for (const char* part :
       {"#SBATCH --array=0-1%4", "#SBATCH --partition=gpu", "#SBATCH --time=02:00:00",
        "#SBATCH --gpus-per-node=1", "#SBATCH --signal=B:USR1@30", "#SBATCH --requeue",
        "#SBATCH --qos=long", "module load cuda", "arguments=('it'\\''s')\nthreads=3\n"}) {
    CHECK_THAT(script, contains(part));
  }
  CHECK(script.find("--mem") == std::string::npos);
}

TEST_CASE("a time limit of Slurm must exceed the notice by more than a minute") {
  CHECK(slurm_seconds("90") == 90 * 60);
  CHECK(slurm_seconds("1:30") == 90);
  CHECK(slurm_seconds("02:00:05") == 2 * 3600 + 5);
  CHECK(slurm_seconds("2-3") == (2 * 24 + 3) * 3600);
  CHECK(slurm_seconds("2-3:4") == ((2 * 24 + 3) * 60 + 4) * 60);
  CHECK(slurm_seconds("2-3:4:5") == ((2 * 24 + 3) * 60 + 4) * 60 + 5);
  CHECK_FALSE(slurm_seconds("").has_value());
  CHECK_FALSE(slurm_seconds("UNLIMITED").has_value());
  for (const char* wrong : {"2h", "1:2:3:4", "-", "1-", "1:", "-5", "1e3"}) {
    CHECK_THROWS_WITH(slurm_seconds(wrong), contains("slurm.time"));
  }
  const Sweeps sweeps;
  const auto plan = [&](const std::string& time) {
    return sweeps.plan(R"({"base": "base.json", "rows": [{"name": "a"}],
                           "slurm": {"notice": 120, "time": ")" +
                       time + "\"}}");
  };
  CHECK_NOTHROW(plan("4"));
  CHECK_THROWS_WITH(plan("3"), contains("slurm.time: \"3\": must exceed slurm.notice (120 s)"));
}

TEST_CASE("a memory of Slurm is a number with a unit") {
  const Sweeps sweeps;
  const auto plan = [&](const std::string& memory) {
    return sweeps.plan(R"({"base": "base.json", "rows": [{"name": "a"}],
                           "slurm": {"memory": ")" +
                       memory + "\"}}");
  };
  for (const char* size : {"", "4000", "16G", "900m"}) CHECK_NOTHROW(plan(size));
  for (const char* wrong : {"16GB", "G", "lots", "1.5G", "-1G"}) {
    CHECK_THROWS_WITH(plan(wrong), contains("slurm.memory: \"" + std::string(wrong) + "\""));
  }
}

TEST_CASE("several tasks are started by srun, or by mpirun where srun has no PMIx") {
  const Sweeps sweeps;
  SweepPlan plan = sweeps.plan(
      R"({"base": "base.json", "rows": [{"name": "a"}],
          "slurm": {"tasks": 4, "nodes": 2, "gpus_per_task": 1}})");
  const std::string script = slurm_script(plan, {});
  for (const char* part :
       {"#SBATCH --ntasks=4\n", "#SBATCH --nodes=2\n", "#SBATCH --gpus-per-task=1\n", "\ntasks=4\n",
        "srun --mpi=pmix", "mpirun -np $tasks"}) {
    CHECK_THAT(script, contains(part));
  }
  CHECK_THROWS_WITH(
      sweeps.plan(R"({"base": "base.json", "rows": [{"name": "a"}], "slurm": {"nodes": 2}})"),
      contains("slurm.nodes"));
}

TEST_CASE("values with spaces are quoted for sbatch, control characters are an error") {
  const Sweeps sweeps;
  const std::string text =
      R"({"base": "base.json", "rows": [{"name": "a"}], "slurm": {"partition": "two words"}})";
  SweepPlan plan = sweeps.plan(text, {.directory = "my 100% \"new\" runs"});
  plan.source = "the sweep.json";
  const std::string script = slurm_script(plan, {});
  CHECK_THAT(script, contains("#SBATCH --job-name=\"attn-the sweep\"\n"));
  CHECK_THAT(script, contains("#SBATCH --partition=\"two words\"\n"));
  CHECK_THAT(script, contains("#SBATCH --output=\"/"));
  CHECK_THAT(script, contains("/my 100%% \\\"new\\\" runs/slurm-%A_%a.out\"\n"));
  CHECK_THAT(script, contains("#SBATCH --ntasks=1\n"));
  plan.source = "two\nlines.json";
  CHECK_THROWS_WITH(slurm_script(plan, {}), contains("--job-name"));
  plan.source = "s.json";
  plan.directory = "back\\slash";
  CHECK_THROWS_WITH(slurm_script(plan, {}), contains("--output"));
}
