#include "app/commands/input_chunks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

#include "app/commands/stdin_lines.h"
#include "app/experiment/progress_line.h"
#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/lines.h"
#include "eval/search/search_count.h"

namespace attn {
namespace {

// Longer lines are cut, which bounds the memory for inputs without line endings.
constexpr size_t kLineLimit = LineReader::max_bytes;

// Once for each kind of defect.
void warn(const std::string& name, int64_t number, const char* what, bool& warned) {
  if (warned) return;
  std::cerr << name << ":" << number << ": " << what << ", here and in later lines\n";
  warned = true;
}

// Replaces invalid UTF-8; returns whether there was any.
bool repair(std::string& line) {
  if (!find_invalid_utf8(line)) return false;
  std::string clean;
  for (const char32_t c : decode_utf8(line)) append_utf8(clean, c);
  line = clean;
  return true;
}

std::ifstream opened(const std::filesystem::path& file) {
  std::ifstream in;
  if (file.empty()) return in;
  errno = 0;
  in.open(file, std::ios::binary);
  if (!in) throw_file_error("read", file, errno);
  if (std::filesystem::is_directory(file)) throw_file_error("read", file, EISDIR);
  return in;
}

}  // namespace

InputProgress::InputProgress(const std::filesystem::path& file) {
  struct stat status {};
  const bool is_stdin = file.empty();
  const int found = is_stdin ? ::fstat(STDIN_FILENO, &status) : ::stat(file.c_str(), &status);
  if (found != 0 || !S_ISREG(status.st_mode)) return;
  const auto at = is_stdin ? static_cast<int64_t>(::lseek(STDIN_FILENO, 0, SEEK_CUR)) : 0;
  size_ = std::max<int64_t>(static_cast<int64_t>(status.st_size) - std::max<int64_t>(at, 0), 0);
}

void InputProgress::add(int64_t bytes) {
  bytes_ += bytes + 1;
  ++lines_;
}

ProgressTotal InputProgress::all_lines() const {
  const int64_t bytes = bytes_, lines = lines_;
  if (size_ == 0 || bytes == 0) return {};
  if (bytes >= size_) return {.count = lines};
  const double scale = static_cast<double>(size_) / static_cast<double>(bytes);
  return {.count = std::llround(static_cast<double>(lines) * scale), .estimated = true};
}

void for_each_chunk(const ChunkedInput& input, OutputFile& output,
                    const std::function<void(std::span<const std::string>)>& answer) {
  const std::filesystem::path path = input.file == "-" ? "" : input.file;
  const bool is_stdin = path.empty();
  const std::string name = is_stdin ? "standard input" : path.string();
  std::ifstream file = opened(path);
  std::istream& in = is_stdin ? std::cin : file;
  InputProgress read(path);
  const ProgressLine progress({.what = input.what,
                               .unit = "sentences",
                               .done = [] { return searched_sentences.load(); },
                               .total = [&] { return read.all_lines(); }},
                              !output.is_stdout() || output_is_hidden());
  std::vector<std::string> lines;
  int64_t number = 0;
  bool cut = false, warned_of_cuts = false, warned_of_bytes = false;
  const auto flush = [&] {
    answer(lines);
    output.flush();
    lines.clear();
  };
  const int64_t requested = is_stdin && isatty(STDIN_FILENO) != 0 ? 1 : input.chunk_size;
  const auto size = static_cast<size_t>(std::max<int64_t>(requested, 1));
  for (std::string line; next_line(in, line, kLineLimit, &cut);) {
    if (++number == 1) begin_text(line, name);
    read.add(static_cast<int64_t>(line.size()));
    if (cut) {
      warn(name, number, "longer than 1 MiB; the rest of the line is not read", warned_of_cuts);
      const auto broken = find_invalid_utf8(line);  // a character that was cut
      if (broken && line.size() - *broken < 4) line.resize(*broken);
    }
    if (repair(line)) {
      warn(name, number, "invalid UTF-8; invalid bytes are read as U+FFFD", warned_of_bytes);
    }
    lines.push_back(line);
    if (lines.size() >= size) flush();
  }
  if (has_failed(in)) {
    throw DataError("cannot read " + name + " (line " + std::to_string(number + 1) + ")");
  }
  if (!lines.empty()) flush();
}

}  // namespace attn
