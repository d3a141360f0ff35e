// How communicators tell a process that works from one that hangs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "train/parallel/communicator.h"

namespace attn {

/// The beats of a process that works (LongWork), on a thread of its own.
class Heartbeat {
 public:
  Heartbeat() = default;
  ~Heartbeat() { end(); }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Calls `beat` now and, until end(), eight times in `timeout` seconds and at least twice a
  /// second; no more once it returns false. Nothing if it has begun.
  void begin(std::function<bool()> beat, std::function<double()> timeout);
  /// Waits for the last call. Nothing unless it has begun.
  void end();

 private:
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool working_ = false;
};

/// The seconds without a message or beat from a process that is awaited.
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
