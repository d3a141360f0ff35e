// The output of a command that writes as it goes: a file, or standard output.
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace attn {

/// Throws DataError if something that was written to standard output is lost, e.g. on a full disk.
void flush_standard_output();

/// A file buffer that keeps the system's error of the first failed write: a stream reports the
/// failure later, when errno is that of another call.
class WriteBuffer : public std::filebuf {
 public:
  /// errno of the first failure; 0: none, or unknown.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void note(bool failed);

  int error_ = 0;
};

/// Until commit() the lines are in PATH.partial, where an interrupted command leaves them; an
/// existing file is replaced at the end. A lock on PATH.partial keeps two commands from writing the
/// same output. Symbolic links are followed; devices and pipes are written directly.
class OutputFile {
 public:
  /// Empty or "-": standard output. Throws DataError if the file cannot be created, or another
  /// command is writing it, and ConfigError if it is the standard input.
  explicit OutputFile(std::filesystem::path path = {});
  OutputFile(const OutputFile&) = delete;
  /// Removes PATH.partial if nothing was written to it.
  ~OutputFile();
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_stdout() const { return path_.empty(); }
  std::ostream& stream();
  /// Throws DataError if the output could not be written.
  void flush();
  /// Flushes and gives the file its name. Throws DataError.
  void commit();
  /// Writes all of the output and commits it. Throws DataError.
  void write_all(std::string_view text);

 private:
  /// Creates and locks PATH.partial.
  void lock();
  /// The file that is written: PATH.partial, or PATH itself if it is a device or a pipe.
  std::filesystem::path partial() const;

  std::filesystem::path path_;
  bool special_ = false;  ///< see Destination
  int locked_ = -1;       ///< descriptor of PATH.partial with the lock; -1: none
  WriteBuffer buffer_;    ///< open until commit()
  std::ostream file_{&buffer_};
};

struct NamedPath {
  const char* option;  ///< "--csv"
  std::filesystem::path path;
};

/// Throws ConfigError if both paths lead to the same file, or both to standard output. Empty paths
/// are no files.
void require_different_files(const NamedPath& one, const NamedPath& other);

/// Throws ConfigError if an output, or its PATH.partial, is a file that the command reads, which it
/// would replace. Empty paths and "-" are no files.
void require_no_input(const NamedPath& output, std::initializer_list<NamedPath> inputs);

/// A file of results that a command writes on request: none for an empty path. To be created before
/// the work, so that a path that cannot be written is reported at once. Throws DataError.
std::optional<OutputFile> requested_output(const std::filesystem::path& path);

}  // namespace attn
