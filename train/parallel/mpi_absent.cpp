// Compiled instead of mpi_communicator.cpp in a build without MPI.
#include "train/parallel/mpi_communicator.h"

namespace attn {

bool has_mpi() {
  return false;
}

std::unique_ptr<Communicator> join_mpi() {
  throw CommunicationError("built without MPI");
}

}  // namespace attn
