#include "app/machine/exit.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "base/stop_signal.h"

namespace attn {
namespace {

// SIGTERM may come twice, from a sweep and to all processes of the machine: it never interrupts
// saving, unlike a second Ctrl-C.
void on_signal(int number) {
  stop_signal = number;
  if (number == SIGINT) std::signal(number, SIG_DFL);
}

void exit_at_once(int number) {
  ::_exit(128 + number);
}

void handle_stop_signals(void (*handler)(int)) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, handler);
  std::signal(SIGTERM, handler);
  // Sent when a terminal is closed; nohup ignores it.
  if (std::signal(SIGHUP, handler) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

}  // namespace

void exit_on_stop_signals() {
  handle_stop_signals(exit_at_once);
}

void catch_stop_signals() {
  handle_stop_signals(on_signal);
}

bool stop_requested() {
  return stop_signal != 0;
}

int stop_exit_code() {
  return stop_signal == 0 ? 0 : 128 + static_cast<int>(stop_signal);
}

}  // namespace attn
