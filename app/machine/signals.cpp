#include "app/machine/signals.h"

#include <csignal>
#include <system_error>
#include <utility>

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

RemovedOnSignal::RemovedOnSignal(std::filesystem::path directory)
    : directory_(std::move(directory)) {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
      sigaddset(&signals_, number);
    }
  }
  sigaddset(&signals_, SIGUSR1);  // from the destructor
  ::pthread_sigmask(SIG_BLOCK, &signals_, &former_);
  waiting_ = std::thread([this] { wait_for_signal(); });
}

RemovedOnSignal::~RemovedOnSignal() {
  ended_ = true;
  ::pthread_kill(waiting_.native_handle(), SIGUSR1);
  waiting_.join();
  ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

void RemovedOnSignal::wait_for_signal() {
  int number = 0;
  do {
    if (::sigwait(&signals_, &number) != 0 || ended_) return;
  } while (number == SIGUSR1);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  std::raise(number);  // its default action ends the process once it is unblocked
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

}  // namespace attn
