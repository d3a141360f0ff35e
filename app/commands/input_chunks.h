// Reads an input in chunks, for translate and parse, and counts how much of it has been read.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "app/commands/output_file.h"
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

struct ChunkedInput {
  std::filesystem::path file;  ///< empty or "-": standard input
  int64_t chunk_size = 1024;   ///< lines
  std::string what;            ///< for the progress line: "translating"
};

/// Calls `answer` with chunks of lines of the input, and flushes the output after each call. Within
/// a chunk, lines of similar length share a batch. If the input is a terminal, a chunk is one line.
/// Invalid UTF-8 is replaced by U+FFFD, with a warning, so that output lines stay aligned with the
/// input. Shows a progress line unless the output is a terminal. Throws DataError if the input
/// cannot be read or the output cannot be written.
void for_each_chunk(const ChunkedInput& input, OutputFile& output,
                    const std::function<void(std::span<const std::string>)>& answer);

}  // namespace attn
