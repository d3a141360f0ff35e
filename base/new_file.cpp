#include "base/new_file.h"

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace attn {

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(make_temporary_file(path_)) {
  errno = 0;
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_) throw_file_error("write", path_, errno);
}

NewFile::~NewFile() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);  // gone already after a commit
}

void NewFile::check() {
  // errno is that of the failed write unless another call has failed since, which is good enough
  // for a message.
  if (!stream_) throw_file_error("write", path_, errno);
}

void NewFile::commit() {
  stream_.flush();
  check();
  stream_.close();
  check();
  sync_file(temporary_, path_);
  commit_file(temporary_, path_);
}

}  // namespace attn
