// The communicator on MPI, for processes started by mpirun or srun.
#pragma once

#include <memory>

#include "train/parallel/communicator.h"

namespace attn {

/// Whether this build has MPI (the CMake option ATTN_WITH_MPI).
bool has_mpi();

/// Initializes MPI; only once in a process, which must not fork afterwards. Throws
/// CommunicationError, also in a build without MPI.
std::unique_ptr<Communicator> join_mpi();

}  // namespace attn
