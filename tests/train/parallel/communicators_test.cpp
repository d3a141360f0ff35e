// Communication over a store and over NCCL.
#include "train/parallel/communicator.h"

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/thread_communicator.h"
#include "tests/train/parallel/trained.h"
#include "train/parallel/nccl_communicator.h"

using namespace attn;
using testing::contains;

namespace {

// Runs `work` as each of three processes, threads here, and returns what they threw.
class StoreProcesses {
 public:
  static constexpr int64_t kCount = 3;

  std::vector<std::string> run(const std::function<void(Communicator&)>& work,
                               double timeout = 20) {
    ++run_;
    return testing::run_ranks(kCount, [&](int64_t rank) {
      const auto world = join_store({.host = "127.0.0.1",
                                     .port = port(),
                                     .prefix = std::to_string(run_),
                                     .rank = rank,
                                     .size = kCount});
      world->set_timeout(timeout);
      work(*world);
    });
  }

  int64_t port() const { return server_->getPort(); }
  int64_t keys() const { return server_->getNumKeys(); }

 private:
  c10::intrusive_ptr<c10d::TCPStore> server_ = testing::local_store();
  int run_ = 0;
};

}  // namespace

TEST_CASE("messages of all sizes, also of several pieces, arrive where they were sent") {
  StoreProcesses processes;
  const int64_t before = processes.keys();
  std::atomic<int> right = 0;
  const auto errors = processes.run([&](Communicator& world) {
    for (int i = 0; i < 2; ++i) testing::exchange_messages(world);
    const std::string own(static_cast<size_t>(world.rank()), 'x');
    if (gather_lists(world, own)[2] == "xx") ++right;
    world.leave();
  });
  CHECK(errors == std::vector<std::string>(StoreProcesses::kCount));
  CHECK(right == StoreProcesses::kCount);
  // The store does not grow, but by a heartbeat of each process.
  CHECK(processes.keys() <= before + StoreProcesses::kCount);
}

TEST_CASE("a process that works longer than the timeout is waited for, one that is gone is not") {
  StoreProcesses processes;
  const bool works = GENERATE(true, false);
  const auto errors = processes.run(
      [&](Communicator& world) {
        if (world.rank() == 1) {
          if (!works) return;  // no heartbeat any more
          std::this_thread::sleep_for(std::chrono::seconds(6));
        }
        gather(world, 0);
      },
      2.0);
  for (size_t rank = 0; rank < errors.size(); ++rank) {
    if (works) {
      CHECK(errors[rank].empty());
    } else if (rank != 1) {
      CHECK_THAT(errors[rank], contains("process 1 has not responded") && contains("--resume"));
    }
  }
}

TEST_CASE("a store that is gone is an error in one line") {
  auto processes = std::make_unique<StoreProcesses>();
  const auto world = join_store(
      {.host = "127.0.0.1", .port = processes->port(), .prefix = "", .rank = 0, .size = 2});
  processes.reset();
  CHECK_THROWS_WITH(gather(*world, 0),
                    contains("torchrun's store does not answer") && !contains("\n"));
}

namespace {

// tests/support/nccl_stub.cpp, loaded before train/parallel looks for the library.
struct Stub {
  Stub() : library(::dlopen(ATTN_NCCL_STUB, RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) return;
    hold = reinterpret_cast<void (*)(bool)>(::dlsym(library, "ncclStubHold"));
  }

  void* library;
  void (*hold)(bool) = nullptr;  // null: this LibTorch has loaded NCCL itself
};

const Stub& stub() {
  static const Stub loaded;
  return loaded;
}

constexpr double kTimeout = 2.0;  // seconds

// Runs `work` as processes that communicate over the stub; returns the errors by rank.
std::vector<std::string> run_over_nccl(int64_t size,
                                       const std::function<void(Communicator&)>& work) {
  testing::ThreadCommunicator::Shared shared(size);
  return testing::run_ranks(size, [&](int64_t rank) {
    try {
      auto control = std::make_unique<testing::ThreadCommunicator>(shared, rank);
      const auto world = with_nccl(std::move(control), torch::kCPU);
      world->set_timeout(kTimeout);
      work(*world);
      world->leave();
    } catch (const CommunicationError&) {
      shared.meeting.arrive_and_drop();
      throw;
    }
  });
}

// RAII: a fault of a rank (tests/support/nccl_stub.cpp).
struct Fault {
  explicit Fault(const char* fault) { ::setenv("ATTN_NCCL_STUB", fault, 1); }
  ~Fault() { ::unsetenv("ATTN_NCCL_STUB"); }
};

bool has_stub() {
  if (stub().hold != nullptr) return true;
  testing::skip("the stub of NCCL: this LibTorch has loaded the real one");
  return false;
}

void exchange_over_nccl(Communicator& world) {
  testing::exchange_messages(world, MessageMemory::device);
}

}  // namespace

TEST_CASE("processes train over NCCL as over the host, bit for bit, sharded or not") {
  if (!has_stub()) return;
  const auto over_nccl = [](int64_t size, const std::function<void(Communicator&)>& work) {
    CHECK(run_over_nccl(size, work) == std::vector<std::string>(static_cast<size_t>(size)));
  };
  TrainConfig config = testing::copying_training();
  config.accumulate = 2;
  config.clip_norm = 0.5;
  config.ema = 0.9;
  for (const int64_t processes : {2, 3}) {
    for (const bool sharded : {false, true}) {
      testing::check_same(testing::train(processes, config, sharded, over_nccl),
                          testing::train(processes, config, sharded));
    }
  }
}

TEST_CASE("an exchange over NCCL ends when its last byte is there, not before") {
  if (!has_stub()) return;
  std::atomic<int> ended = 0, early = 0;
  std::thread release;
  CHECK(run_over_nccl(3, [&](Communicator& world) {
          if (world.is_rank_zero()) {
            stub().hold(true);
            release = std::thread([&] {
              std::this_thread::sleep_for(std::chrono::milliseconds(200));
              early = ended.load();
              stub().hold(false);
            });
          }
          exchange_over_nccl(world);
          ++ended;
        }) == std::vector<std::string>(3));
  release.join();
  CHECK(early == 0);
  CHECK(ended == 3);
}

TEST_CASE("a fault of NCCL in one process ends all of them within the timeout, with its reason") {
  if (!has_stub()) return;
  const std::string hanging = "a process is hanging or was stopped; resume with --resume";
  const std::pair<std::string, std::string> faults[] = {
      {"init_error:1", "NCCL: unhandled system error"},
      {"init_hangs:2", hanging},
      {"async_error:1", "NCCL: remote process exited"},
      {"stalls:0", hanging},
      {"dies:1", "NCCL: remote process exited"}};
  for (const auto& [fault, own] : faults) {
    CAPTURE(fault);
    const Fault planted(fault.c_str());
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<std::string> errors = run_over_nccl(3, exchange_over_nccl);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    const auto rank = static_cast<size_t>(fault.back() - '0');
    for (size_t r = 0; r < errors.size(); ++r) {
      CAPTURE(r);
      if (r == rank) CHECK_THAT(errors[r], contains(own));
      if (r != rank) CHECK_THAT(errors[r], contains("remote process exited") || contains(hanging));
    }
  }
}

TEST_CASE(
    "messages of any size arrive over NCCL, and a process that is slow is not one that hangs") {
  if (!has_stub()) return;
  const Fault planted("slow:2");
  const auto work = [](Communicator& world) {
    for (int i = 0; i < 5; ++i) exchange_over_nccl(world);  // longer than the timeout in all
  };
  CHECK(run_over_nccl(3, work) == std::vector<std::string>(3));
}
