#include "app/commands/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
  open();
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  struct stat status = {};
  const bool unused = ::fstat(file_, &status) == 0 && status.st_size == 0;
  std::error_code ignored;
  if (!special_ && !committed_ && unused) std::filesystem::remove(partial(), ignored);
  ::close(file_);
}

void OutputFile::open() {
  while (true) {
    file_ = ::open(partial().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw_file_error("write", partial(), errno);
    if (special_) return;
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(std::exchange(file_, -1));
      throw DataError("cannot write '" + partial().string() + "': another command is writing it");
    }
    // The former holder may have renamed the file between the two calls.
    if (is_open_on(file_, partial())) break;
    ::close(std::exchange(file_, -1));
  }
  if (::ftruncate(file_, 0) != 0) throw_file_error("write", partial(), errno);
}

std::filesystem::path OutputFile::partial() const {
  return special_ ? path_ : partial_of(path_);
}

std::ostream& OutputFile::stream() {
  return is_stdout() ? std::cout : text_;
}

void OutputFile::flush() {
  if (is_stdout()) return flush_standard_output();
  const std::string text = text_.str();
  text_.str("");
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(file_, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) throw_file_error("write", partial(), errno);
    written += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
}

void OutputFile::commit() {
  flush();
  if (is_stdout() || special_) return;
  sync_file(partial(), partial());  // else a power failure could leave an empty file of this name
  commit_file(partial(), path_);
  committed_ = true;
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
