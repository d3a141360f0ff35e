// How much of standard input has been read.
#pragma once

#include <atomic>
#include <cstdint>

namespace attn {

/// Counts lines and bytes; other threads may ask.
class StdinProgress {
 public:
  StdinProgress();
  /// A line without its end.
  void add(int64_t bytes);
  int64_t lines() const { return lines_; }
  /// Of all of standard input: exact once it has been read, an estimate before, 0 for a pipe.
  int64_t all_lines() const;

 private:
  std::atomic<int64_t> lines_ = 0, bytes_ = 0;
  int64_t size_ = 0;  ///< in bytes; 0: not a file
};

}  // namespace attn
