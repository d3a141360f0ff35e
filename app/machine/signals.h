// SIGINT, SIGTERM and SIGHUP make a run save and stop; a second SIGINT terminates the process
// immediately. `attn eval` ends at once and removes its temporary files (RemovedOnSignal).
// Both functions for runs ignore SIGPIPE: `2>&1 | head` does not end a training, whose log is a
// file.
#pragma once

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

namespace attn {

/// From now on a stop signal ends the process at once, with its exit code: there is nothing to
/// save.
void exit_on_stop_signals();
/// From now on a stop signal is noted; only for work that checks stop_requested() or throws
/// Stopped.
void catch_stop_signals();
bool stop_requested();
/// 128 + the number of the received signal, the shell's convention for processes terminated by a
/// signal; 0 if none was received.
int stop_exit_code();

/// While it exists, SIGINT, SIGTERM, SIGHUP and SIGPIPE remove a directory before they terminate
/// the process, unless another thread creates it again at that moment; those that are ignored
/// (nohup) stay ignored. The destructor removes the directory, too. One at a time, and not together
/// with catch_stop_signals(). Throws DataError without file descriptors.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(std::filesystem::path directory);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;

 private:
  void wait_for_signal() const;
  void remove_directory() const;

  std::filesystem::path directory_;
  std::vector<int> caught_;    // signals
  std::array<int, 2> pipe_{};  // the handler writes the number of its signal, the destructor 0
  std::thread waiting_;
};

}  // namespace attn
