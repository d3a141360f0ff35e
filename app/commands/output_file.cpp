#include "app/commands/output_file.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace fs = std::filesystem;

void flush_standard_output() {
  // Both, since some output is written by printf.
  if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw DataError("cannot write to standard output; the output is incomplete");
  }
}

OutputFile::OutputFile(const fs::path& path) {
  if (path.empty() || path == "-") return;
  if (fs::is_directory(path)) throw DataError(path.string() + ": a directory; give a file");
  const Destination destination = destination_of(path);
  written_ = path_ = destination.path;
  if (!destination.special) written_ += ".partial";
  errno = 0;
  file_.open(written_, std::ios::binary);
  if (!file_) throw_file_error("write", written_, errno);
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (written_ != path_ && fs::file_size(written_, ignored) == 0) fs::remove(written_, ignored);
}

std::ostream& OutputFile::stream() {
  return is_stdout() ? std::cout : text_;
}

void OutputFile::flush() {
  if (is_stdout()) return flush_standard_output();
  errno = 0;
  file_ << text_.str() << std::flush;
  if (!file_) throw_file_error("write", written_, errno);
  text_.str("");
}

void OutputFile::commit() {
  flush();
  if (written_ == path_) return;
  sync_file(written_, written_);  // else a power failure could leave an empty file of this name
  commit_file(written_, path_);
}

void OutputFile::write_all(std::string_view text) {
  stream() << text;
  commit();
}

void require_no_input(const NamedPath& output, std::initializer_list<NamedPath> inputs) {
  if (output.path.empty() || output.path == "-") return;
  for (const auto& [option, path] : inputs) {
    const bool is_stdin = path.empty() || path == "-";
    std::error_code error;
    if (!fs::is_regular_file(output.path, error) ||
        !fs::equivalent(output.path, is_stdin ? "/dev/stdin" : path, error)) {
      continue;
    }
    throw ConfigError(std::string(output.option) + " " + output.path.string() +
                      ": the file is also the input " + (is_stdin ? "on standard input" : option) +
                      "; give another file");
  }
}

std::optional<OutputFile> requested_output(const fs::path& path) {
  return path.empty() ? std::nullopt : std::optional<OutputFile>(std::in_place, path);
}

}  // namespace attn
