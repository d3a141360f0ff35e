// The lock of a run: only one process may train it.
#pragma once

#include <filesystem>

namespace attn {

/// RAII lock on DIRECTORY/lock by flock, which the system releases when the process ends, however
/// it ends. On NFS it excludes other machines, too. Where the file system has no locks, a warning
/// says so.
class RunLock {
 public:
  /// Creates the directory if missing. Throws DataError, naming the process, if another one still
  /// holds the lock after `patience_seconds`, or if the directory is not writable.
  explicit RunLock(const std::filesystem::path& directory, double patience_seconds = 0.0);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace attn
