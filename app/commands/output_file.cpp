#include "app/commands/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

std::filesystem::path partial_of(std::filesystem::path path) {
  path += ".partial";
  return path;
}

// Whether the descriptor is open on the file of this path.
bool is_open_on(int descriptor, const std::filesystem::path& path) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

void flush_standard_output() {
  // Both, since some output is written by printf.
  if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw DataError("cannot write to standard output; the output is incomplete");
  }
}

WriteBuffer::int_type WriteBuffer::overflow(int_type c) {
  errno = 0;
  const int_type written = std::filebuf::overflow(c);
  note(traits_type::eq_int_type(written, traits_type::eof()));
  return written;
}

std::streamsize WriteBuffer::xsputn(const char* text, std::streamsize size) {
  errno = 0;
  const std::streamsize written = std::filebuf::xsputn(text, size);
  note(written < size);
  return written;
}

int WriteBuffer::sync() {
  errno = 0;
  const int status = std::filebuf::sync();
  note(status != 0);
  return status;
}

void WriteBuffer::note(bool failed) {
  if (failed && error_ == 0) error_ = errno;
}

OutputFile::OutputFile(std::filesystem::path path) : path_(path == "-" ? "" : std::move(path)) {
  if (is_stdout()) return;
  if (std::filesystem::is_directory(path_)) {
    throw DataError(path_.string() + ": a directory; give a file");
  }
  Destination destination = destination_of(path_);
  path_ = std::move(destination.path);
  special_ = destination.special;
  if (!special_ && is_open_on(STDIN_FILENO, path_)) {
    throw ConfigError(path_.string() + ": is also the standard input; give another output file");
  }
  if (!special_) lock();
  errno = 0;
  if (buffer_.open(partial(), std::ios::out | std::ios::binary | std::ios::trunc) == nullptr) {
    throw_file_error("write", partial(), errno);
  }
}

OutputFile::~OutputFile() {
  if (!is_stdout() && !special_ && buffer_.is_open()) {
    buffer_.close();
    std::error_code ignored;
    if (std::filesystem::file_size(partial(), ignored) == 0) {
      std::filesystem::remove(partial(), ignored);
    }
  }
  if (locked_ >= 0) ::close(locked_);
}

void OutputFile::lock() {
  while (true) {
    locked_ = ::open(partial().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (locked_ < 0) throw_file_error("write", partial(), errno);
    const bool taken = ::flock(locked_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken) {
      ::close(std::exchange(locked_, -1));
      throw DataError("cannot write '" + partial().string() + "': another command is writing it");
    }
    // The former holder may have renamed the file between the two calls.
    if (is_open_on(locked_, partial())) return;
    ::close(std::exchange(locked_, -1));
  }
}

std::filesystem::path OutputFile::partial() const {
  return special_ ? path_ : partial_of(path_);
}

std::ostream& OutputFile::stream() {
  return is_stdout() ? std::cout : file_;
}

void OutputFile::flush() {
  if (is_stdout()) return flush_standard_output();
  if (!stream().flush()) throw_file_error("write", partial(), buffer_.error());
}

void OutputFile::commit() {
  flush();
  if (is_stdout()) return;
  if (buffer_.close() == nullptr) throw_file_error("write", partial(), buffer_.error());
  if (special_) return;
  sync_file(partial(), partial());  // else a power failure could leave an empty file of this name
  commit_file(partial(), path_);
}

void OutputFile::write_all(std::string_view text) {
  stream() << text;
  commit();
}

void require_different_files(const NamedPath& one, const NamedPath& other) {
  if (one.path.empty() || other.path.empty()) return;
  const auto file = [](const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    return path == "-" ? path : fs::weakly_canonical(fs::absolute(destination_of(path).path));
  };
  if (file(one.path) != file(other.path)) return;
  throw ConfigError(std::string(one.option) + " and " + other.option + " name the same file, " +
                    one.path.string() + "; give two files");
}

void require_no_input(const NamedPath& output, std::initializer_list<NamedPath> inputs) {
  namespace fs = std::filesystem;
  if (output.path.empty() || output.path == "-") return;
  const fs::path whole = destination_of(output.path).path, partial = partial_of(whole);
  for (const fs::path& written : {whole, partial}) {
    std::error_code error;
    if (!fs::is_regular_file(written, error)) continue;
    for (const NamedPath& input : inputs) {
      if (!fs::equivalent(written, input.path, error)) continue;
      throw ConfigError(std::string(output.option) + " " + output.path.string() + ": " +
                        (written == whole ? "the file" : written.string()) + " is also the input " +
                        input.option + "; give another file");
    }
  }
}

std::optional<OutputFile> requested_output(const std::filesystem::path& path) {
  return path.empty() ? std::nullopt : std::optional<OutputFile>(std::in_place, path);
}

}  // namespace attn
