#include "train/parallel/heartbeat.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/format.h"

namespace attn {

void Heartbeat::begin(std::function<bool()> beat, std::function<double()> timeout) {
  if (thread_.joinable()) return;
  working_ = true;
  thread_ = std::thread([this, beat = std::move(beat), timeout = std::move(timeout)] {
    std::unique_lock lock(mutex_);
    while (working_ && beat()) {
      const auto rest = std::chrono::duration<double>(std::min(0.5, timeout() / 8));
      ended_.wait_for(lock, rest, [this] { return !working_; });
    }
  });
}

void Heartbeat::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    working_ = false;
  }
  ended_.notify_all();
  thread_.join();
}

void Silence::last(double seconds, int64_t peer, double timeout) {
  seconds_ += std::min(seconds, 1.0);
  if (seconds_ <= timeout) return;
  throw CommunicationError(
      format("process %lld has not responded for %.0f s (runtime.timeout): it is hanging or was "
             "stopped; resume with --resume",
             static_cast<long long>(peer), timeout));
}

}  // namespace attn
