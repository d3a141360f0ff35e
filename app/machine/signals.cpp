#include "app/machine/signals.h"

#include <csignal>

namespace attn {
namespace {

volatile std::sig_atomic_t g_signal = 0;

// SIGTERM may come twice, from a sweep and to all processes of the machine: it never interrupts
// saving, unlike a second Ctrl-C.
void on_signal(int number) {
  g_signal = number;
  if (number == SIGINT) std::signal(number, SIG_DFL);
}

}  // namespace

void catch_stop_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  // Sent when a terminal is closed; nohup ignores it.
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool stop_requested() {
  return g_signal != 0;
}

int stop_exit_code() {
  return g_signal == 0 ? 0 : 128 + static_cast<int>(g_signal);
}

}  // namespace attn
