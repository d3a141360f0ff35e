#include "app/machine/launcher.h"

#include "base/parse_number.h"

namespace attn {
namespace {

using Get = std::function<const char*(const char*)>;

std::optional<int64_t> number(const Get& get, const char* name) {
  const char* text = get(name);
  if (text == nullptr) return std::nullopt;
  return parse_number<int64_t>(text);
}

struct Variables {
  const char* size;
  const char* rank;
};
// Open MPI's mpirun; MPICH's mpiexec and others that speak PMI; srun; a Slurm job's shell, which
// has no process of its own for each task.
constexpr Variables kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                    {"PMI_SIZE", "PMI_RANK"},
                                    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                                    {"SLURM_NTASKS", "SLURM_PROCID"}};

bool from_slurm(const Launch& launch) {
  return launch.said.starts_with("SLURM_");
}

}  // namespace

std::optional<Launch> find_launch(const Get& get) {
  if (get("TORCHELASTIC_RUN_ID") != nullptr) {
    const auto size = number(get, "WORLD_SIZE"), rank = number(get, "RANK");
    if (size && rank) {
      return Launch{.said = "torchrun: WORLD_SIZE=" + std::to_string(*size),
                    .processes = *size,
                    .rank = *rank,
                    .torchrun = true};
    }
  }
  const bool connected = get("PMIX_RANK") != nullptr || get("PMI_RANK") != nullptr ||
                         get("OMPI_COMM_WORLD_SIZE") != nullptr;
  for (const auto& [size_name, rank_name] : kLaunchers) {
    const auto size = number(get, size_name);
    if (!size) continue;
    return Launch{.said = std::string(size_name) + "=" + get(size_name),
                  .processes = *size,
                  .rank = number(get, rank_name).value_or(0),
                  .connected = connected};
  }
  if (const auto rank = number(get, "PMIX_RANK")) {
    return Launch{.said = "PMIX_RANK=" + std::to_string(*rank), .processes = 0, .rank = *rank};
  }
  return std::nullopt;
}

std::optional<std::string> wrong_launch(const Launch& launch, bool with_mpi) {
  if (launch.processes == 1 || launch.torchrun) return std::nullopt;
  if (!with_mpi) {
    return "started as one of several processes (" + launch.said +
           "), but this build has no MPI; install it and build again (Debian: libopenmpi-dev "
           "openmpi-bin; ATTN_MPI=1 ./run build), or start one process";
  }
  if (launch.connected) return std::nullopt;
  if (from_slurm(launch)) {
    return launch.said +
           ", but this process is not connected to the others; start it with srun --mpi=pmix, with "
           "mpirun where srun --mpi=list has no pmix, or alone after unset SLURM_NTASKS";
  }
  return launch.said + ", but this process is not connected to the others; start it with mpirun";
}

}  // namespace attn
