// Reading of text files by line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace attn {

/// What to do with a byte order mark: sacreBLEU scores it.
enum class ByteOrderMark { drop, keep };

/// Reads the lines of a file, without line endings ("\n" or "\r\n").
class LineReader {
 public:
  static constexpr size_t max_bytes = size_t{1} << 20;

  /// "-" is standard input. Lines longer than `longest` bytes are truncated, which bounds the
  /// memory for files without line endings. Throws DataError if the file cannot be opened.
  explicit LineReader(const std::filesystem::path& path, size_t longest = max_bytes,
                      ByteOrderMark mark = ByteOrderMark::drop);
  /// Reads the next line; false at the end of the file. A terminal's or pipe's lines are read as
  /// they come. Throws DataError if reading fails, or if the text is compressed or in UTF-16.
  bool next(std::string& line);
  /// Number of the last line, from 1.
  int64_t number() const { return number_; }
  /// Whether the last line was truncated.
  bool cut() const { return cut_; }
  /// "standard input" for "-".
  const std::filesystem::path& path() const { return path_; }
  /// hash_file of the bytes read so far; after the end, of the whole file.
  uint64_t hash() const { return hasher_.digest(); }

 private:
  bool fill();

  std::filesystem::path path_;
  size_t longest_;
  ByteOrderMark mark_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;  ///< null at its end
  std::vector<char> buffer_;
  std::string_view unread_;
  Hasher hasher_;
  int64_t number_ = 0;
  bool cut_ = false;
};

/// Reads all lines of a file, as LineReader, without truncating them. Throws DataError, also for a
/// file that is larger than `limit` bytes.
std::vector<std::string> read_lines(const std::filesystem::path& path,
                                    ByteOrderMark mark = ByteOrderMark::drop,
                                    size_t limit = size_t{1} << 34);

/// Removes the first line of a text and returns it without its line ending.
std::string_view take_line(std::string_view& text);

/// Throws DataError naming `file`, the line and the byte unless the line is valid UTF-8.
void require_utf8(std::string_view line, const std::string& file, size_t number);
/// The same for all lines of a file, whose numbers start at 1.
void require_utf8(std::span<const std::string> lines, const std::string& file);

/// The lines of a text of an evaluator, as read_lines. Throws DataError if one is not valid UTF-8.
std::vector<std::string> read_utf8_lines(const std::filesystem::path& path);

/// Throws DataError if `read`, the hash of the bytes read, differs from `keyed`, the hash used in a
/// cache key: the file has changed meanwhile and must not be cached under this key.
void require_same_hash(const std::filesystem::path& path, uint64_t keyed, uint64_t read);

}  // namespace attn
