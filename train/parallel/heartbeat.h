// How communicators tell a process that works from one that hangs.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

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

/// The seconds without a message or heartbeat from a process that is awaited.
class Silence {
 public:
  void broken() { seconds_ = 0.0; }
  /// Adds those since the last look. Of a longer pause one second counts: this process was
  /// suspended itself. Throws CommunicationError, naming `peer`, once there are more than
  /// `timeout`.
  void last(double seconds, int64_t peer, double timeout) {
    seconds_ += std::min(seconds, 1.0);
    if (seconds_ <= timeout) return;
    throw CommunicationError(
        format("process %lld has not responded for %.0f s (runtime.timeout): it is hanging or was "
               "stopped; resume with --resume",
               static_cast<long long>(peer), timeout));
  }

 private:
  double seconds_ = 0.0;
};

}  // namespace attn
