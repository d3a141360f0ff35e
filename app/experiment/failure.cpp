#include "app/experiment/failure.h"

#include <algorithm>
#include <fstream>

#include "app/experiment/run_directory.h"
#include "app/machine/shell.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFailed = "failed: ";
constexpr std::streamoff kTail = 1 << 16;

// Calls `look` with the lines at the end of the log, from `begin` on.
template <class Look>
void for_last_lines(const fs::path& log, std::streamoff begin, Look look) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return;
  file.seekg(std::max<std::streamoff>(file.tellg() - std::streampos(kTail), begin));
  for (std::string line; std::getline(file, line);) look(line);
}

}  // namespace

std::string stop_line(const fs::path& run, int64_t step) {
  return "stopped at step " + std::to_string(step) +
         ", checkpoint saved; resume with: attn train " + shell_word(run.string()) + " --resume";
}

std::string last_error(const fs::path& log, std::uintmax_t begin) {
  constexpr std::string_view kError = "attn: ";
  std::string error, last;
  for_last_lines(log, static_cast<std::streamoff>(begin), [&](const std::string& line) {
    if (line.starts_with(kError)) error = line.substr(kError.size());
    if (line.find_first_not_of("- \t") != std::string::npos) last = line;  // no rule of mpirun
  });
  return error.empty() ? last : error;
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
  std::string line;
  for_last_lines(log, 0, [&](const std::string& one) {
    if (!one.empty()) line = one;
  });
  if (!line.starts_with(kFailed)) return {};
  return line.substr(kFailed.size());
}

std::optional<std::string> failure_of(const fs::path& run) {
  const RunDirectory directory(run);
  const fs::path own = directory.log();
  const fs::path outer = fs::path(directory.path()).concat(".log");
  if (auto why = logged_failure(own)) return why;
  std::error_code none;
  const auto written = fs::last_write_time(own, none);
  const bool resumed = !none && written > fs::last_write_time(outer, none);
  return resumed && !none ? std::nullopt : logged_failure(outer);
}

}  // namespace attn
