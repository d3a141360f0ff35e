// The communicator of processes that torchrun has started, without MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "train/parallel/communicator.h"

namespace attn {

/// The store of torchrun's agent, and this process's place.
struct StoreGroup {
  std::string host;
  int64_t port = 0;
  std::string prefix;  ///< of keys: differs between runs, and between restarts of one
  int64_t rank = 0, size = 1;
};

/// Connects to the store, whose keys carry messages and heartbeats: slower than MPI, and enough for
/// lists, texts, and NCCL's id. Throws CommunicationError.
std::unique_ptr<Communicator> join_store(const StoreGroup& group);

}  // namespace attn
