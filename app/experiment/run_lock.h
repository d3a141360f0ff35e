// The lock of a run: only one process may train it.
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
  /// Seconds between heartbeats.
  double beat = 10.0;
  /// Seconds without a heartbeat after which the holder is considered dead. Network file systems
  /// may show changes late.
  double dead_after = 60.0;
  /// Whether to use the system's file locks.
  bool system_locks = true;
};

/// RAII lock on DIRECTORY/lock, released by the system when the process ends. Since some network
/// file systems have no locks, or only within a machine, the holder also updates
/// DIRECTORY/lock.holder with its identity and a heartbeat. The lock of a dead process is taken
/// over at once on the same machine, else after `dead_after` seconds without a heartbeat, with a
/// warning.
class RunLock {
 public:
  /// Creates the directory if missing. Throws DataError if another process holds the lock for
  /// longer than `patience` seconds, or the directory is not writable.
  explicit RunLock(const std::filesystem::path& directory, const RunLockOptions& options = {});
  RunLock(const std::filesystem::path& directory, double patience_seconds)
      : RunLock(directory, RunLockOptions{.patience = patience_seconds}) {}
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Call before writing. Throws DataError if another process has taken over the lock, because this
  /// one had no heartbeat for too long (e.g. a suspended machine).
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
