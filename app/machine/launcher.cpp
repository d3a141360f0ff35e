#include "app/machine/launcher.h"

#include <utility>

#include "base/parse_number.h"

namespace attn {
namespace {

using Get = std::function<const char*(const char*)>;

std::optional<int64_t> number(const Get& get, const char* name) {
  const char* text = get(name);
  if (text == nullptr) return std::nullopt;
  return parse_number<int64_t>(text);
}

// Open MPI's mpirun; MPICH's mpiexec and others that speak PMI; srun; a Slurm job's shell, which
// has no process of its own for each task.
constexpr std::pair<const char*, const char*> kLaunchers[] = {  // sizes and ranks
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"SLURM_NTASKS", "SLURM_PROCID"}};

}  // namespace

std::optional<Launch> find_launch(const Get& get) {
  const auto torch_size = number(get, "WORLD_SIZE"), torch_rank = number(get, "RANK");
  if (get("TORCHELASTIC_RUN_ID") != nullptr && torch_size && torch_rank) {
    return Launch{.said = "torchrun: WORLD_SIZE=" + std::to_string(*torch_size),
                  .processes = *torch_size,
                  .rank = *torch_rank,
                  .torchrun = true};
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
  return launch.said + ", but this process is not connected to the others; start it with " +
         (launch.said.starts_with("SLURM_")
              ? "srun --mpi=pmix, with mpirun where srun --mpi=list has no pmix, or alone after "
                "unset SLURM_NTASKS"
              : "mpirun");
}

}  // namespace attn
