#include "train/parallel/heartbeat.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/format.h"

namespace attn {

Heartbeat::Heartbeat(const Communicator& world, std::function<void()> beat)
    : thread_([this, &world, beat = std::move(beat)](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
          beat();
          const std::chrono::duration<double> rest(std::min(0.5, world.timeout() / 8));
          ended_.wait_for(lock, stop, rest, [] { return false; });
        }
      }) {}

void Silence::last(double seconds, int64_t peer, double timeout) {
  seconds_ += std::min(seconds, 1.0);
  if (seconds_ <= timeout) return;
  throw CommunicationError(
      format("process %lld has not responded for %.0f s (runtime.timeout): it is hanging or was "
             "stopped; resume with --resume",
             static_cast<long long>(peer), timeout));
}

}  // namespace attn
