// The stop signal: set by the handlers of app/machine/exit.h, read by work that takes long.
#pragma once

#include <csignal>
#include <stdexcept>

namespace attn {

/// The number of the signal that asked the process to stop; 0: none. Only commands that have
/// something to save catch signals; those of the others end the process.
inline volatile std::sig_atomic_t stop_signal = 0;

/// Thrown by work that a stop signal ends.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped by a signal") {}
};

/// To be called for each batch or position of work that may be given up.
inline void throw_if_stopped() {
  if (stop_signal != 0) throw Stopped();
}

}  // namespace attn
