#include "app/machine/launcher.h"

#include <map>
#include <string>

#include "app/machine/version.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;

namespace {

std::optional<Launch> launch_of(const std::map<std::string, std::string>& variables) {
  return find_launch([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("a process on its own has no launcher") {
  CHECK_FALSE(launch_of({}));
  CHECK_FALSE(launch_of({{"OMPI_COMM_WORLD_SIZE", "many"}}));
  const auto alone = launch_of({{"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}});
  REQUIRE(alone);
  CHECK_FALSE(wrong_launch(*alone, false));  // as good as none
}

TEST_CASE("mpirun, MPICH, srun and torchrun name the number of processes and the rank") {
  struct Start {
    std::map<std::string, std::string> variables;
    int64_t processes, rank;
    bool torchrun = false;  // which comes before the launcher that started it, and needs no MPI
  };
  const Start start = GENERATE(
      Start{{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}, 4, 3},
      Start{{{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}, 2, 1},
      Start{{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"PMIX_RANK", "1"}}, 2, 1},
      Start{{{"TORCHELASTIC_RUN_ID", "none"},
             {"WORLD_SIZE", "8"},
             {"RANK", "5"},
             {"SLURM_NTASKS", "2"},
             {"SLURM_PROCID", "1"}},
            8,
            5,
            true});
  const auto launch = launch_of(start.variables);
  REQUIRE(launch);
  CHECK(launch->processes == start.processes);
  CHECK(launch->rank == start.rank);
  CHECK(launch->torchrun == start.torchrun);
  CHECK((launch->torchrun || launch->connected));
  CHECK_FALSE(wrong_launch(*launch, !start.torchrun));
}

TEST_CASE("a wrong start is one line with the remedy") {
  const auto open_mpi = launch_of({{"OMPI_COMM_WORLD_SIZE", "4"}});
  CHECK_THAT(*wrong_launch(*open_mpi, false),
             contains("OMPI_COMM_WORLD_SIZE=4") && contains("ATTN_MPI=1 ./run build"));
  CHECK_FALSE(wrong_launch(*open_mpi, true));
  // srun without PMIx, and a job's shell without srun.
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    const auto slurm = launch_of({{name, "2"}, {"SLURM_PROCID", "0"}});
    REQUIRE(slurm);
    CHECK_THAT(*wrong_launch(*slurm, true), contains("srun --mpi=pmix") && contains("mpirun"));
  }
}

TEST_CASE("the models of GPUs are named once each, as the driver names them") {
  const testing::TemporaryDirectory driver;
  const auto add = [&](const char* gpu, const std::string& text) {
    std::filesystem::create_directory(driver.path() / gpu);
    write_file_atomically(driver.path() / gpu / "information", text);
  };
  CHECK(gpu_models(driver.path()).empty());
  add("0000:00:06.0", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\n");
  add("0000:00:07.0", "Model: \t\t NVIDIA H200\n");
  CHECK(gpu_models(driver.path()) == "NVIDIA H200");
  add("0000:00:08.0", "Model: \t\t NVIDIA A100\n");
  add("0000:00:09.0", "");
  CHECK(gpu_models(driver.path()) == "NVIDIA A100, NVIDIA H200");
  CHECK(gpu_models(driver.path() / "none").empty());
}
