#include "app/commands/input_progress.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace attn {

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

}  // namespace attn
