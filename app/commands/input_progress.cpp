#include "app/commands/stdin_progress.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace attn {

StdinProgress::StdinProgress() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto at = static_cast<int64_t>(::lseek(STDIN_FILENO, 0, SEEK_CUR));
  size_ = std::max<int64_t>(static_cast<int64_t>(status.st_size) - std::max<int64_t>(at, 0), 0);
}

void StdinProgress::add(int64_t bytes) {
  bytes_ += bytes + 1;
  ++lines_;
}

int64_t StdinProgress::all_lines() const {
  const int64_t bytes = bytes_, lines = lines_;
  if (size_ == 0 || bytes == 0) return 0;
  if (bytes >= size_) return lines;
  return std::llround(static_cast<double>(lines) * static_cast<double>(size_) /
                      static_cast<double>(bytes));
}

}  // namespace attn
