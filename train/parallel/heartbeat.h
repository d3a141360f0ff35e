// How communicators tell a process that works from one that hangs.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/format.h"
#include "train/parallel/communicator.h"

namespace attn {

/// The heartbeats of a process, on a thread of its own, while it does not communicate.
class Heartbeat {
 public:
  /// Calls `beat` eight times in the timeout of `world`, and at least twice a second.
  Heartbeat(const Communicator& world, std::function<void()> beat)
      : thread_([this, &world, beat = std::move(beat)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!stop.stop_requested()) {
            beat();
            const std::chrono::duration<double> rest(std::min(0.5, world.timeout() / 8));
            ended_.wait_for(lock, stop, rest, [] { return false; });
          }
        }) {}

  /// No beat while the lock is held.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(mutex_); }

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

/// For how long processes that are awaited have been silent.
class Silence {
 public:
  explicit Silence(int64_t processes) : heard_(static_cast<size_t>(processes), 0.0) {}

  /// A message or heartbeat from a process.
  void heard(int64_t peer) { heard_[static_cast<size_t>(peer)] = waited_; }
  /// Counts the time since the last look. Of a longer pause one second counts: this process was
  /// suspended itself.
  void look() {
    waited_ += std::min(unseen(), 1.0);
    looked_ = Clock::now();
  }
  /// Seconds since the last look.
  double unseen() const { return std::chrono::duration<double>(Clock::now() - looked_).count(); }
  double waited() const { return waited_; }
  /// Throws CommunicationError, naming `peer`, if it has been silent for more than `timeout`.
  void require(int64_t peer, double timeout) const {
    if (waited_ - heard_[static_cast<size_t>(peer)] <= timeout) return;
    throw CommunicationError(
        format("process %ld has not responded for %.0f s (runtime.timeout): it is hanging or was "
               "stopped; resume with --resume",
               peer, timeout));
  }

 private:
  using Clock = std::chrono::steady_clock;
  double waited_ = 0.0;
  std::vector<double> heard_;  // what waited_ was then
  Clock::time_point looked_ = Clock::now();
};

}  // namespace attn
