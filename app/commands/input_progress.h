// Counts how much of an input has been read, for progress lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "app/experiment/progress_line.h"

namespace attn {

/// Lines and bytes read so far. The counts may be read from other threads.
class InputProgress {
 public:
  /// Counts a file, or standard input if `file` is empty.
  explicit InputProgress(const std::filesystem::path& file = {});
  /// Counts one line of `bytes` bytes, without its line ending.
  void add(int64_t bytes);
  int64_t lines() const { return lines_; }
  /// Lines of the whole input: estimated from its size until all is read, unknown for a pipe.
  ProgressTotal all_lines() const;

 private:
  std::atomic<int64_t> lines_ = 0, bytes_ = 0;
  int64_t size_ = 0;  ///< in bytes; 0: not a file
};

}  // namespace attn
