// One process trains a run at a time: two would write each other's checkpoints.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

namespace attn {

/// How a RunLock waits; the rest is for tests.
struct RunLockOptions {
  /// Seconds to wait for another process to end.
  double patience = 0.0;
  /// Seconds between two signs of life of a holder.
  double beat = 10.0;
  /// Seconds without one after which a holder counts as dead. File systems of networks may show a
  /// change late.
  double dead_after = 60.0;
  /// Whether the system's locks are asked.
  bool system_locks = true;
};

/// Holds DIRECTORY/lock while it lives; the system lets go of it when the process ends, however it
/// does. Some file systems of networks have no locks, or ones that hold within a machine alone: so
/// the holder also keeps DIRECTORY/lock.holder, which says who it is and changes at every sign of
/// life. One that is left by a killed process of this machine is taken over at once, another one
/// when it did not change for `dead_after` seconds; then, and where there are no locks, stderr gets
/// a line.
class RunLock {
 public:
  /// Makes the directory if need be. Throws DataError when another process still trains after
  /// `patience` seconds, or the directory can't be written.
  explicit RunLock(const std::filesystem::path& directory, const RunLockOptions& options = {});
  RunLock(const std::filesystem::path& directory, double patience_seconds)
      : RunLock(directory, RunLockOptions{.patience = patience_seconds}) {}
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Before something is written that another holder would write, too. Throws DataError when
  /// lock.holder names another process: this one gave no sign of life for so long (a machine that
  /// slept) that the other one took over.
  void require() const;

 private:
  void take_system_lock();
  void take_holder_file();
  void wait_for_holder();
  void keep_alive();
  std::string record(int64_t beats) const;

  std::filesystem::path directory_;
  RunLockOptions options_;
  int file_ = -1;
  bool locked_ = false;  // by the system
  std::string token_;    // of this holder alone
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread heart_;
};

}  // namespace attn
