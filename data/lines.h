// Buffered reading of text files by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace attn {

/// Reads the lines of a file, without line endings ("\n" or "\r\n") and without a byte order mark
/// at the start.
class LineReader {
 public:
  /// Longer lines are truncated, which bounds the memory for files without line endings.
  static constexpr size_t max_bytes = size_t{1} << 20;

  /// Throws DataError if the file cannot be opened.
  explicit LineReader(std::filesystem::path path);
  /// Reads the next line; false at the end of the file. Throws DataError if reading fails or the
  /// text is compressed.
  bool next(std::string& line);
  /// Number of the last line, from 1.
  int64_t number() const { return number_; }
  /// Whether the last line was longer than `max_bytes` and truncated.
  bool cut() const { return cut_; }
  const std::filesystem::path& path() const { return path_; }
  /// hash_file of the bytes read so far; after the end, of the whole file.
  uint64_t hash() const { return hasher_.digest(); }

 private:
  bool fill();

  std::filesystem::path path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::string_view unread_;
  Hasher hasher_;
  int64_t number_ = 0;
  bool cut_ = false;
};

/// Throws DataError naming `file`, the line and the byte unless the line is valid UTF-8.
void require_utf8(std::string_view line, const std::string& file, size_t number);
/// The same for all lines of a file, whose numbers start at 1.
void require_utf8(std::span<const std::string> lines, const std::string& file);

/// The lines of a text of an evaluator, as read_lines (base/file.h). Throws DataError if one is not
/// valid UTF-8.
std::vector<std::string> read_utf8_lines(const std::filesystem::path& path);

/// Throws DataError if `read`, the hash of the bytes read, differs from `keyed`, the hash used in a
/// cache key: the file has changed meanwhile and must not be cached under this key.
void require_same_hash(const std::filesystem::path& path, uint64_t keyed, uint64_t read);

}  // namespace attn
