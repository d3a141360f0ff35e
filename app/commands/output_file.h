// The output of a command that writes as it goes: a file, or standard output.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace attn {

/// Throws DataError if something that was written to standard output is lost, e.g. on a full disk.
void flush_standard_output();

/// Until commit() the lines are in PATH.partial, where an interrupted command leaves them; an
/// existing file is replaced at the end. Symbolic links are followed; devices and pipes are written
/// directly.
class OutputFile {
 public:
  /// Empty or "-": standard output. Throws DataError if the file cannot be created.
  explicit OutputFile(std::filesystem::path path = {});

  bool is_stdout() const { return path_.empty(); }
  /// Of a file, text is kept in memory until flush().
  std::ostream& stream();
  /// Throws DataError if the output cannot be written.
  void flush();
  /// Flushes and gives the file its name. Throws DataError.
  void commit();
  /// Writes all of the output and commits it. Throws DataError.
  void write_all(std::string_view text);

 private:
  /// The file that is written: PATH.partial, or PATH itself if it is a device or a pipe.
  std::filesystem::path partial() const;

  std::filesystem::path path_;
  bool special_ = false;  ///< see Destination
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
  std::ostringstream text_;  ///< not yet written
};

/// A file of results that a command writes on request: none for an empty path. To be created before
/// the work, so that a path that cannot be written is reported at once. Throws DataError.
std::optional<OutputFile> requested_output(const std::filesystem::path& path);

}  // namespace attn
