#include "app/commands/text_io.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "eval/search/beam_search.h"

namespace attn {
namespace {

// Replaces invalid UTF-8; returns whether there was any.
bool repair(std::string& line) {
  if (!find_invalid_utf8(line)) return false;
  std::string clean;
  for (const char32_t c : decode_utf8(line)) append_utf8(clean, c);
  line = clean;
  return true;
}

}  // namespace

void for_each_chunk(const ChunkedInput& input, OutputFile& output,
                    const std::function<void(std::span<const std::string>)>& answer) {
  const bool is_stdin = input.file.empty() || input.file == "-";
  LineReader reader(is_stdin ? "-" : input.file, std::string::npos);
  const ProgressLine progress(
      {.what = input.what, .unit = "sentences", .done = [] { return searched_sentences.load(); }},
      !output.is_stdout() || output_is_hidden());
  std::vector<std::string> lines;
  bool warned = false;
  const auto flush = [&] {
    answer(lines);
    output.flush();
    lines.clear();
  };
  const int64_t requested = is_stdin && isatty(STDIN_FILENO) != 0 ? 1 : input.chunk_size;
  const auto size = static_cast<size_t>(std::max<int64_t>(requested, 1));
  for (std::string line; reader.next(line);) {
    if (repair(line) && !std::exchange(warned, true)) {
      std::cerr << reader.path().string() << ":" << reader.number()
                << ": invalid UTF-8; invalid bytes are read as U+FFFD, here and in later lines\n";
    }
    lines.push_back(line);
    if (lines.size() >= size) flush();
  }
  if (!lines.empty()) flush();
}

TextFile read_text(const std::string& path, bool may_be_stdin, ByteOrderMark mark) {
  const bool is_stdin = path == "-";
  if (is_stdin && !may_be_stdin) {
    throw ConfigError("-: standard input is not possible for this text; give a file");
  }
  TextFile file{is_stdin ? "standard input" : path, read_lines(path, mark)};
  require_utf8(file.lines, file.name);
  // As sacreBLEU's program reads lines; chrF with white space would count it.
  for (std::string& line : file.lines) line.resize(strip_right(line).size());
  return file;
}

void require_not_input(const std::filesystem::path& output, const std::filesystem::path& input) {
  std::error_code none;
  if (!std::filesystem::equivalent(input, output, none)) return;
  throw ConfigError(output.string() + ": is also an input; give another file for the output");
}

void check_same_length(const TextFile& one, const TextFile& other, const std::string& kinds) {
  const bool shorter = one.lines.size() < other.lines.size();
  const TextFile& less = shorter ? one : other;
  const TextFile& more = shorter ? other : one;
  if (less.lines.size() == more.lines.size()) return;
  throw DataError(more.name + ":" + std::to_string(less.lines.size() + 1) + ": " + less.name +
                  " has no such line (" + std::to_string(less.lines.size()) + " lines, expected " +
                  std::to_string(more.lines.size()) + "); " + kinds + " must match line by line");
}

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
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (special_ ? 0 : O_NOFOLLOW);
  const int file = ::open(partial().c_str(), flags, 0666);
  file_.reset(file < 0 ? nullptr : ::fdopen(file, "wb"));
  if (!file_) throw_file_error("write", partial(), errno);
  if (special_) return;
  // Two commands would mix their lines. After opening, the file may have got its final name.
  struct stat opened, named;
  const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (taken || ::fstat(file, &opened) != 0 || ::lstat(partial().c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino) {
    throw DataError(partial().string() +
                    ": another command is writing it; wait for it, or give another name");
  }
  if (::ftruncate(file, 0) != 0) throw_file_error("write", partial(), errno);
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (file_ && !special_ && !written_) std::filesystem::remove(partial(), ignored);
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
  written_ |= !text.empty();
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
  file_.reset();  // the name is another command's from here on
}

void OutputFile::write_all(std::string_view text) {
  stream() << text;
  commit();
}

std::optional<OutputFile> requested_output(const std::filesystem::path& path) {
  return path.empty() ? std::nullopt : std::optional<OutputFile>(std::in_place, path);
}

void print_unknown(const UnknownTokens& count, const std::string& side) {
  if (count.unknown > 0) std::cerr << unknown_note(count, side) << "\n";
}

}  // namespace attn
