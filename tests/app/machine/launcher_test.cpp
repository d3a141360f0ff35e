#include "app/machine/launcher.h"

#include <map>
#include <string>

#include "tests/support/catch.h"

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
}

TEST_CASE("mpirun, MPICH and srun name the number of processes and the rank") {
  const auto open_mpi = launch_of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  REQUIRE(open_mpi);
  CHECK((open_mpi->processes == 4 && open_mpi->rank == 3 && open_mpi->connected));
  const auto mpich = launch_of({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}});
  REQUIRE(mpich);
  CHECK((mpich->processes == 2 && mpich->rank == 1 && mpich->connected));
  const auto slurm =
      launch_of({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"PMIX_RANK", "1"}});
  REQUIRE(slurm);
  CHECK((slurm->processes == 2 && slurm->rank == 1 && slurm->connected));
  CHECK_FALSE(wrong_launch(*slurm, true));
}

TEST_CASE("torchrun comes before the launcher that started it, and needs no MPI") {
  const auto torchrun = launch_of({{"TORCHELASTIC_RUN_ID", "none"},
                                   {"WORLD_SIZE", "8"},
                                   {"RANK", "5"},
                                   {"SLURM_NTASKS", "2"},
                                   {"SLURM_PROCID", "1"}});
  REQUIRE(torchrun);
  CHECK((torchrun->processes == 8 && torchrun->rank == 5 && torchrun->torchrun));
  CHECK_FALSE(wrong_launch(*torchrun, false));
}

TEST_CASE("one process in a job of one task is as good as none") {
  const auto alone = launch_of({{"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}});
  REQUIRE(alone);
  CHECK_FALSE(wrong_launch(*alone, false));
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
