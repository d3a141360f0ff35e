#include <chrono>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/file.h"

namespace attn {

namespace fs = std::filesystem;

void remove_leftovers(const fs::path& folder, std::chrono::seconds age) {
  constexpr size_t kDigits = 16;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const size_t mark = name.rfind(temporary_mark), digits = mark + temporary_mark.size();
    if (mark == std::string::npos || name.size() != digits + kDigits ||
        name.find_first_not_of("0123456789abcdef", digits) != std::string::npos) {
      continue;
    }
    const auto written = entry.last_write_time(error);
    if (error || fs::file_time_type::clock::now() - written < age) continue;
    fs::remove_all(entry.path(), error);
    if (error) throw_file_error("delete", entry.path(), error);
  }
}

}  // namespace attn
