// One process trains a run at a time: two would write each other's checkpoints.
#pragma once

#include <filesystem>

namespace attn {

/// Holds DIRECTORY/lock while it lives; the system lets go of it when the process ends, however it
/// does.
class RunLock {
 public:
  /// Makes the directory if need be, waits up to `patience_seconds` for another process to end, and
  /// throws DataError when that one still trains or the directory can't be written. A file system
  /// without locks is no reason to stop.
  explicit RunLock(const std::filesystem::path& directory, double patience_seconds = 0.0);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace attn
