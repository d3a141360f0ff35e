// A large file, written through a stream and renamed when it is complete.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace attn {

/// A temporary file that `commit` renames to its final name. Without commit it is removed.
class NewFile {
 public:
  /// Throws DataError if the file cannot be created.
  explicit NewFile(std::filesystem::path path)
      : path_(std::move(path)), temporary_(make_temporary_file(path_)) {
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    check();
  }
  ~NewFile() {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);  // gone already after a commit
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  std::ostream& stream() { return stream_; }
  /// Throws DataError with the system's error message if a write has failed. It is that of the
  /// failed write unless another call has failed since, which is good enough.
  void check() {
    if (!stream_) throw_file_error("write", path_, errno);
  }
  /// Renames the file. Throws DataError with the system's error message if a write has failed.
  void commit() {
    stream_.close();
    check();
    sync_file(temporary_, path_);
    commit_file(temporary_, path_);
  }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::ofstream stream_;
};

}  // namespace attn
