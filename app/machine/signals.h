// SIGINT, SIGTERM and SIGHUP make a run save and stop; a second SIGINT terminates the process
// immediately. Other commands end at once, and remove their temporary files.
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

namespace attn {

/// Installs the handlers; only for commands that check stop_requested().
void catch_stop_signals();
bool stop_requested();
/// 128 + the number of the received signal, the shell's convention for processes terminated by a
/// signal; 0 if none was received.
int stop_exit_code();

/// While it exists, SIGINT, SIGTERM and SIGHUP remove a directory before they terminate the
/// process; those that are ignored (nohup) stay ignored. To be constructed before other threads,
/// which must inherit its signal mask, and not together with catch_stop_signals().
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(std::filesystem::path directory);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;

 private:
  void wait_for_signal();

  std::filesystem::path directory_;
  sigset_t signals_{}, former_{};
  std::atomic<bool> ended_ = false;
  std::thread waiting_;
};

}  // namespace attn
