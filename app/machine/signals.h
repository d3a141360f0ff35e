// SIGINT, SIGTERM and SIGHUP make a run save and stop; a second SIGINT terminates the process
// immediately. `attn eval` ends at once and removes its temporary files (RemovedOnSignal).
#pragma once

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

namespace attn {

/// Installs the handlers; only for commands that check stop_requested().
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
