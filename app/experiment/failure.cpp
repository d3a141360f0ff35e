#include "app/experiment/failure.h"

#include <algorithm>
#include <fstream>

#include "app/experiment/run_directory.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFailed = "failed: ";
constexpr std::streamoff kTail = 1 << 16;

}  // namespace

std::string last_line(const fs::path& log) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return "";
  file.seekg(std::max<std::streamoff>(file.tellg() - std::streampos(kTail), 0));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

void log_failure(const fs::path& log, const std::string& why) noexcept {
  try {
    std::string line(why.substr(0, why.find_last_not_of('\n') + 1));
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::ofstream(log, std::ios::app) << kFailed << line << std::endl;
  } catch (...) {  // the failure itself is reported
  }
}

std::optional<std::string> logged_failure(const fs::path& log) {
  const std::string line = last_line(log);
  if (!line.starts_with(kFailed)) return {};
  return line.substr(kFailed.size());
}

std::optional<std::string> failure_of(const fs::path& run) {
  const fs::path own = RunDirectory(run).log();
  const fs::path outer = fs::path(run).concat(".log");
  if (auto why = logged_failure(own)) return why;
  std::error_code none;
  const auto written = fs::last_write_time(own, none);
  const bool resumed = !none && written > fs::last_write_time(outer, none);
  return resumed && !none ? std::nullopt : logged_failure(outer);
}

}  // namespace attn
