// Whether mpirun, srun or torchrun has started this process as one of several.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace attn {

/// What a launcher says in the environment.
struct Launch {
  std::string said;       ///< the variable that shows it, "OMPI_COMM_WORLD_SIZE=4"
  int64_t processes = 1;  ///< 0: unknown
  int64_t rank = 0;
  bool connected = true;  ///< the launcher also connects the processes (PMI, PMIx, a store)
  bool torchrun = false;
};

/// Reads variables with `get`, as std::getenv does. Knows torchrun, which may itself have been
/// started by one of the others and comes first, mpirun of Open MPI and MPICH, srun, and the shell
/// of a Slurm job with several tasks. std::nullopt for a process on its own.
std::optional<Launch> find_launch(const std::function<const char*(const char*)>& get);

/// Why processes started like this cannot train together, with the remedy, one line; std::nullopt
/// if they can. `with_mpi`: has_mpi().
std::optional<std::string> wrong_launch(const Launch& launch, bool with_mpi);

}  // namespace attn
