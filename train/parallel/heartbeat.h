// How communicators tell a process that works from one that hangs.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "train/parallel/communicator.h"

namespace attn {

/// The heartbeats of a process, on a thread of its own, while it does not communicate.
class Heartbeat {
 public:
  /// Calls `beat` eight times in the timeout of `world`, and at least twice a second.
  Heartbeat(const Communicator& world, std::function<void()> beat);

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
  void last(double seconds, int64_t peer, double timeout);

 private:
  double seconds_ = 0.0;
};

}  // namespace attn
