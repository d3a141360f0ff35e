// Training by several processes, for tests that compare the ways in which these communicate.
#pragma once

#include <functional>
#include <mutex>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/thread_communicator.h"

namespace attn::testing {

/// A store as torchrun's, at a port of this machine that is free.
inline c10::intrusive_ptr<c10d::TCPStore> local_store() {
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.waitWorkers = false;
  return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
}

/// What processes have after training together: of the first, which has all.
struct Trained {
  torch::Tensor weights, first_moment;
  std::vector<double> losses, norms;
};

/// Runs work as a number of processes would.
using RunAsProcesses = std::function<void(int64_t, const std::function<void(Communicator&)>&)>;

/// Ten updates by processes of one thread each, or by one process of this test's threads.
inline Trained train(int64_t processes, const TrainConfig& config, bool shard_optimizer,
                     const RunAsProcesses& run = run_as_processes) {
  Trained result;
  const auto work = [&](Communicator& world) {
    if (processes > 1) at::set_num_threads(1);
    static std::mutex seeding;  // torch's generator
    std::unique_lock lock(seeding);
    CopyingTask task(config, 60, copying_model(), torch::kCPU,
                     {.world = world, .shard_optimizer = shard_optimizer});
    lock.unlock();
    gather(world, 0);  // a step seeds the generator that initializes the models of all threads
    for (int i = 0; i < 10; ++i) {
      const StepReport report = task.trainer.step();
      if (!world.is_rank_zero()) continue;
      result.losses.push_back(report.loss);
      result.norms.push_back(report.gradient_norm);
    }
    const OptimizerState state = task.trainer.collect_state();
    if (!world.is_rank_zero()) return;
    result.weights = task.weights();
    result.first_moment = state[0].clone();
  };
  if (processes == 1) {
    work(single_process());
  } else {
    run(processes, work);
  }
  return result;
}

/// A message from each rank to each, of sizes that differ: some empty, one of several pieces.
/// Throws CommunicationError if bytes are wrong.
inline void exchange_messages(Communicator& world, MessageMemory memory = MessageMemory::host) {
  const int64_t size = world.size(), rank = world.rank();
  const auto message = [](int64_t from, int64_t to) {
    const int64_t length = from == 1 && to == 2 ? (5 << 21) + 3 : (from * 7 + to * 3) % 5 * 10'007;
    std::vector<std::byte> bytes(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) {
      bytes[static_cast<size_t>(i)] = static_cast<std::byte>(31 * from + 7 * to + i + (i >> 16));
    }
    return bytes;
  };
  std::vector<std::vector<std::byte>> sent, received;
  for (int64_t r = 0; r < size; ++r) {
    sent.push_back(message(rank, r));
    received.emplace_back(message(r, rank).size());
  }
  world.exchange(std::vector<ConstBytes>(sent.begin(), sent.end()),
                 std::vector<Bytes>(received.begin(), received.end()), memory);
  for (int64_t r = 0; r < size; ++r) {
    if (received[static_cast<size_t>(r)] != message(r, rank)) {
      throw CommunicationError("wrong bytes");
    }
  }
}

inline void check_same(const Trained& a, const Trained& b) {
  CHECK(torch::equal(a.weights, b.weights));
  CHECK(torch::equal(a.first_moment, b.first_moment));
  CHECK(a.losses == b.losses);
  CHECK(a.norms == b.norms);
}

}  // namespace attn::testing
