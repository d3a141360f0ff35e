#include "app/commands/output_file.h"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "base/error.h"

namespace attn {

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (is_stdout()) return;
  if (std::filesystem::is_directory(path_)) {
    throw DataError(path_.string() + ": a directory; give a file");
  }
  errno = 0;
  file_.open(partial(), std::ios::binary | std::ios::trunc);
  if (!file_) throw DataError(partial().string() + ": cannot be written: " + std::strerror(errno));
}

std::filesystem::path OutputFile::partial() const {
  std::filesystem::path name = path_;
  name += ".partial";
  return name;
}

std::ostream& OutputFile::stream() {
  return is_stdout() ? std::cout : static_cast<std::ostream&>(file_);
}

void OutputFile::flush() {
  errno = 0;
  if (stream().flush()) return;
  if (is_stdout()) throw DataError("cannot write to standard output");
  throw DataError(partial().string() + ": cannot be written" +
                  (errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
}

void OutputFile::commit() {
  flush();
  if (is_stdout()) return;
  file_.close();
  std::error_code error;
  if (file_) std::filesystem::rename(partial(), path_, error);
  if (!file_ || error) {
    throw DataError(path_.string() + ": cannot be written" +
                    (error ? ": " + error.message() : std::string()) + "; the output is in " +
                    partial().string());
  }
}

}  // namespace attn
