#include "app/machine/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/error.h"
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

volatile std::sig_atomic_t g_pipe = -1;

void tell_number(int number) {
  const int error = errno;
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const ssize_t written = ::write(g_pipe, &byte, 1);
  errno = error;
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

// A handler may do little more than write to a pipe. Its thread does the rest: blocking signals
// instead would need the masks of LibTorch's threads.
RemovedOnSignal::RemovedOnSignal(std::filesystem::path directory)
    : directory_(std::move(directory)) {
  if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) throw_file_error("watch", directory_, errno);
  waiting_ = std::thread([this] { wait_for_signal(); });
  g_pipe = pipe_[1];
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = tell_number;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
    caught_.push_back(number);
  }
}

RemovedOnSignal::~RemovedOnSignal() {
  remove_directory();
  for (const int number : caught_) std::signal(number, SIG_DFL);
  tell_number(0);  // after the signals that this thread caught, which end the process
  waiting_.join();
  g_pipe = -1;
  for (const int end : pipe_) ::close(end);
}

void RemovedOnSignal::wait_for_signal() const {
  char number = 0;
  while (::read(pipe_[0], &number, 1) < 0 && errno == EINTR) continue;
  if (number == 0) return;
  std::error_code ignored;
  constexpr int kAttempts = 100;  // other threads go on, and may create files
  for (int i = 0; i < kAttempts && std::filesystem::exists(directory_, ignored); ++i) {
    remove_directory();
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void RemovedOnSignal::remove_directory() const {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace attn
