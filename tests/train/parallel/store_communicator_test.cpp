#include "train/parallel/store_communicator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

namespace {

// Runs `work` as each of three processes, threads here, and returns what they threw.
class StoreProcesses {
 public:
  static constexpr int64_t kCount = 3;

  StoreProcesses() {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    server_ = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  }

  std::vector<std::string> run(const std::function<void(Communicator&)>& work,
                               double timeout = 20) {
    std::vector<std::string> errors(kCount);
    std::vector<std::thread> threads;
    ++run_;
    for (int64_t rank = 0; rank < kCount; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const auto world = join_store({.host = "127.0.0.1",
                                         .port = server_->getPort(),
                                         .prefix = std::to_string(run_),
                                         .rank = rank,
                                         .size = kCount});
          world->set_timeout(timeout);
          work(*world);
        } catch (const CommunicationError& error) {
          errors[static_cast<size_t>(rank)] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  int64_t keys() const { return server_->getNumKeys(); }

 private:
  c10::intrusive_ptr<c10d::TCPStore> server_;
  int run_ = 0;
};

const std::vector<std::string> kNoStoreErrors(StoreProcesses::kCount);

}  // namespace

TEST_CASE("messages of all sizes, also of several pieces, arrive where they were sent") {
  StoreProcesses processes;
  const int64_t before = processes.keys();
  std::atomic<int> right = 0;
  const auto errors = processes.run([&](Communicator& world) {
    const int64_t rank = world.rank();
    const auto size_of = [](int64_t from, int64_t to) {
      return from == 1 && to == 2 ? (size_t{5} << 21) + 3 : static_cast<size_t>(5 * from + to);
    };
    const auto value_of = [](int64_t from, int64_t to, size_t i) {
      return static_cast<std::byte>(31 * from + 7 * to + static_cast<int64_t>(i % 250));
    };
    std::vector<std::vector<std::byte>> out, in;
    for (int64_t r = 0; r < world.size(); ++r) {
      out.emplace_back(size_of(rank, r));
      for (size_t i = 0; i < out.back().size(); ++i) out.back()[i] = value_of(rank, r, i);
      in.emplace_back(size_of(r, rank));
    }
    for (int i = 0; i < 2; ++i) {
      world.exchange(std::vector<ConstBytes>(out.begin(), out.end()),
                     std::vector<Bytes>(in.begin(), in.end()));
    }
    for (int64_t r = 0; r < world.size(); ++r) {
      const std::vector<std::byte>& got = in[static_cast<size_t>(r)];
      for (size_t i = 0; i < got.size(); ++i) {
        if (got[i] != value_of(r, rank, i)) return;
      }
    }
    if (gather_lists(world, std::string(static_cast<size_t>(rank), 'x'))[2] == "xx") ++right;
    world.leave();
  });
  CHECK(errors == kNoStoreErrors);
  CHECK(right == StoreProcesses::kCount);
  // The store does not grow but by each one's count of heartbeats.
  CHECK(processes.keys() <= before + StoreProcesses::kCount);
}

TEST_CASE("a process that works longer than the timeout is waited for, one that is gone is not") {
  StoreProcesses processes;
  const bool works = GENERATE(true, false);
  const auto errors = processes.run(
      [&](Communicator& world) {
        if (world.rank() == 1) {
          if (!works) return;  // no heartbeat any more
          std::this_thread::sleep_for(std::chrono::milliseconds(2500));
        }
        gather(world, 0);
      },
      0.6);
  for (size_t rank = 0; rank < errors.size(); ++rank) {
    if (works) {
      CHECK(errors[rank].empty());
    } else if (rank != 1) {
      CHECK_THAT(errors[rank], contains("process 1 has not responded") && contains("--resume"));
    }
  }
}

TEST_CASE("a store that nobody serves is an error in one line") {
  StoreProcesses processes;
  try {
    join_store({.host = "127.0.0.1", .port = 1, .prefix = "", .rank = 0, .size = 2});
    FAIL("connected");
  } catch (const CommunicationError& error) {
    CHECK_THAT(std::string(error.what()), contains("torchrun's store does not answer"));
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
  }
}
