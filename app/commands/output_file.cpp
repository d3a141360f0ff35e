#include "app/commands/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
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
  errno = 0;
  if (buffer_.open(partial(), std::ios::out | std::ios::binary | std::ios::trunc) == nullptr) {
    throw DataError(partial().string() + ": cannot be written: " + std::strerror(errno));
  }
}

OutputFile::~OutputFile() {
  if (is_stdout() || special_ || !buffer_.is_open()) return;
  buffer_.close();
  std::error_code ignored;
  if (std::filesystem::file_size(partial(), ignored) == 0) {
    std::filesystem::remove(partial(), ignored);
  }
}

std::filesystem::path OutputFile::partial() const {
  return special_ ? path_ : partial_of(path_);
}

std::ostream& OutputFile::stream() {
  return is_stdout() ? std::cout : file_;
}

std::string OutputFile::reason() const {
  return buffer_.error() == 0 ? "" : std::string(": ") + std::strerror(buffer_.error());
}

void OutputFile::flush() {
  if (is_stdout()) return flush_standard_output();
  if (!stream().flush()) throw DataError(partial().string() + ": cannot be written" + reason());
}

void OutputFile::commit() {
  flush();
  if (is_stdout()) return;
  const bool closed = buffer_.close() != nullptr;
  std::error_code error, ignored;
  if (closed && !special_) std::filesystem::rename(partial(), path_, error);
  if (!closed || error) {
    const bool kept = !special_ && std::filesystem::exists(partial(), ignored);
    throw DataError(path_.string() + ": cannot be written" +
                    (error ? ": " + error.message() : reason()) +
                    (kept ? "; the output is in " + partial().string() : std::string()));
  }
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
