// The lock of a run: only one process may train it.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

namespace attn {

/// Options of RunLock. All but `patience` are for tests.
struct RunLockOptions {
  /// Seconds to wait for another process to release the lock.
  double patience = 0.0;
  /// Seconds between heartbeats.
  double beat = 10.0;
  /// Seconds without a heartbeat after which the holder is considered dead. Long, since changes on
  /// network file systems may become visible late.
  double dead_after = 60.0;
  /// Whether to use the system's file locks.
  bool system_locks = true;
};

/// RAII lock on DIRECTORY/lock, released by the system when the process ends. Some network file
/// systems do not support locks, or only within one machine. The holder therefore also updates
/// DIRECTORY/lock.holder with its identity and a heartbeat. The lock of a dead process is taken
/// over at once on the same machine, otherwise after `dead_after` seconds without a heartbeat, with
/// a warning.
class RunLock {
 public:
  /// Creates the directory if missing. Throws DataError if another process still holds the lock
  /// after `patience` seconds, or if the directory is not writable.
  explicit RunLock(const std::filesystem::path& directory, const RunLockOptions& options = {});
  RunLock(const std::filesystem::path& directory, double patience_seconds)
      : RunLock(directory, RunLockOptions{.patience = patience_seconds}) {}
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// To be called before writing. Throws DataError if another process has taken over the lock
  /// because this one wrote no heartbeat for too long (e.g. a suspended machine).
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
  bool locked_ = false;  // has the system's file lock
  std::string token_;    // unique to this holder
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread heart_;
};

}  // namespace attn
