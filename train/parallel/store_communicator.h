// The communicator of processes that torchrun has started, without MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "train/parallel/communicator.h"

namespace attn {

/// The store of torchrun's agent, and this process's place.
struct StoreGroup {
  std::string host;
  int64_t port = 0;
  std::string prefix;  ///< of keys: differs between runs, and between restarts of one
  int64_t rank = 0, size = 1;
};

/// Connects to the store. Throws CommunicationError.
std::unique_ptr<Communicator> join_store(const StoreGroup& group);

/// Sends messages and heartbeats as keys of a store, which all processes reach: slower than MPI,
/// and enough for lists, texts, and NCCL's id.
std::unique_ptr<Communicator> over_store(c10::intrusive_ptr<c10d::Store> store, int64_t rank,
                                         int64_t size);

}  // namespace attn
