// A large file, written through a stream and renamed when it is complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>

namespace attn {

/// A temporary file that `commit` renames to its final name. Without commit it is removed.
class NewFile {
 public:
  /// Throws DataError if the file cannot be created.
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  std::ostream& stream() { return stream_; }
  /// Throws DataError with the system's error message if a write has failed.
  void check();
  /// Renames the file. Throws DataError with the system's error message if a write has failed.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::ofstream stream_;
};

}  // namespace attn
