#include "app/commands/output_file.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace attn {

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
  file_.reset(std::fopen(partial().c_str(), "wb"));
  if (!file_) throw_file_error("write", partial(), errno);
}

std::filesystem::path OutputFile::partial() const {
  return special_ ? path_ : std::filesystem::path(path_) += ".partial";
}

std::ostream& OutputFile::stream() {
  return is_stdout() ? std::cout : text_;
}

void OutputFile::flush() {
  if (is_stdout()) return flush_standard_output();
  const std::string text = std::exchange(text_, {}).str();
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0) {
    throw_file_error("write", partial(), errno);
  }
}

void OutputFile::commit() {
  flush();
  if (is_stdout() || special_) return;
  sync_file(partial(), partial());  // else a power failure could leave an empty file of this name
  commit_file(partial(), path_);
}

void OutputFile::write_all(std::string_view text) {
  stream() << text;
  commit();
}

std::optional<OutputFile> requested_output(const std::filesystem::path& path) {
  return path.empty() ? std::nullopt : std::optional<OutputFile>(std::in_place, path);
}

}  // namespace attn
