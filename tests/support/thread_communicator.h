// A communicator between threads of one process, to test what processes compute together.
#pragma once

#include <barrier>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "train/parallel/communicator.h"

namespace attn::testing {

class ThreadCommunicator : public Communicator {
 public:
  /// What the threads share.
  struct Shared {
    explicit Shared(int64_t size) : messages(static_cast<size_t>(size)), meeting(size) {}
    std::vector<std::vector<ConstBytes>> messages;  // by sender
    std::barrier<> meeting;
  };
  ThreadCommunicator(Shared& shared, int64_t rank) : shared_(shared), rank_(rank) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return static_cast<int64_t>(shared_.messages.size()); }
  [[noreturn]] void abort(int code) override { std::_Exit(code); }

 private:
  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                   MessageMemory /*memory*/) override {
    shared_.messages[static_cast<size_t>(rank_)].assign(to.begin(), to.end());
    shared_.meeting.arrive_and_wait();
    for (size_t r = 0; r < from.size(); ++r) {
      const ConstBytes message = shared_.messages[r][static_cast<size_t>(rank_)];
      std::copy(message.begin(), message.end(), from[r].begin());
    }
    shared_.meeting.arrive_and_wait();
  }

  Shared& shared_;
  int64_t rank_;
};

/// Runs `work` on a thread for each rank; what it threw, by rank.
inline std::vector<std::string> run_ranks(int64_t size, const std::function<void(int64_t)>& work) {
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (const CommunicationError& error) {
        errors[static_cast<size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// Runs `work` as `size` processes would.
inline void run_as_processes(int64_t size, const std::function<void(Communicator&)>& work) {
  ThreadCommunicator::Shared shared(size);
  run_ranks(size, [&](int64_t rank) noexcept {
    ThreadCommunicator world(shared, rank);
    work(world);
  });
}

}  // namespace attn::testing
