#include "app/commands/input_chunks.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "app/commands/stdin_lines.h"
#include "app/commands/stdin_progress.h"
#include "app/experiment/progress_line.h"
#include "base/error.h"
#include "base/utf8.h"
#include "eval/search/search_count.h"

namespace attn {
namespace {

void repair(std::string& line, int64_t number, int64_t& repaired) {
  if (!find_invalid_utf8(line)) return;
  if (repaired++ == 0) {
    std::cerr << "standard input:" << number
              << ": invalid UTF-8; invalid bytes are read as U+FFFD, here and in later lines\n";
  }
  std::string clean;
  for (const char32_t c : decode_utf8(line)) append_utf8(clean, c);
  line = clean;
}

}  // namespace

void for_each_chunk(int64_t chunk_size, const std::string& what,
                    const std::function<void(std::span<const std::string>)>& answer) {
  StdinProgress read;
  const ProgressLine progress({.what = what,
                               .unit = "sentences",
                               .done = [] { return searched_sentences.load(); },
                               .total = [&] { return read.all_lines(); }},
                              output_is_hidden());
  std::vector<std::string> lines;
  int64_t number = 0, repaired = 0;
  const auto flush = [&] {
    answer(lines);
    std::cout.flush();
    if (!std::cout) throw DataError("cannot write to standard output");
    lines.clear();
  };
  const int64_t asked = isatty(STDIN_FILENO) != 0 ? 1 : chunk_size;
  const auto size = static_cast<size_t>(std::max<int64_t>(asked, 1));
  for (std::string line; next_stdin_line(line, ++number);) {
    read.add(static_cast<int64_t>(line.size()));
    repair(line, number, repaired);
    lines.push_back(line);
    if (lines.size() >= size) flush();
  }
  if (!lines.empty()) flush();
}

}  // namespace attn
