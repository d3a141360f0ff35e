#include "app/sweep/changed_program.h"

#include "app/machine/shell.h"
#include "app/machine/version.h"
#include "app/sweep/processes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace attn {
namespace fs = std::filesystem;

std::string ProgramChange::label() const {
  return (is_diff ? "diff " : "binary ") + file.filename().string();
}

std::optional<ProgramChange> change_of(const SweepRow& row, const fs::path& folder) {
  if (row.diff.empty() && row.binary.empty()) return {};
  ProgramChange change{.is_diff = row.binary.empty()};
  change.file = folder / (change.is_diff ? row.diff : row.binary);
  if (change.is_diff) {
    change.record = read_file(change.file);
  } else {
    change.file = fs::absolute(change.file).lexically_normal();
    const auto [failed, text] = output_of(shell_quoted(change.file.string()) + " --version");
    if (failed != 0 || !text.starts_with("attn ")) {
      throw ConfigError(change.file.string() + " --version: not a build of attn: " + text);
    }
    change.record = text + "\nhash " + to_hex(hash_file(change.file)) + "\n";
  }
  return change;
}

fs::path build_changed(const ProgramChange& diff, int threads) {
  constexpr std::string_view kSays = "attn: ";
  const fs::path build = program_path().parent_path().parent_path();
  const std::string home = first_value(build / "CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL");
  if (home.empty()) {
    throw ConfigError("a diff needs the build folder of attn, and " + program_path().string() +
                      " is in none; run build/release/app/attn, not a copy of it");
  }
  std::string command = "cmake";
  for (const auto& [name, value] : {std::pair("BUILD", build.string()),
                                    {"COMMIT", version().commit},
                                    {"DIFF", fs::absolute(diff.file).string()},
                                    {"JOBS", std::to_string(threads)}}) {
    command += std::string(" -D ") + shell_quoted(std::string(name) + "=" + value);
  }
  const fs::path source = home.substr(home.find('=') + 1);
  const auto [failed, text] =
      output_of(command + " -P " + shell_quoted((source / "cmake/ChangedProgram.cmake").string()));
  const size_t found = text.rfind(kSays);
  const size_t begin = found == text.npos ? 0 : found + kSays.size();
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  if (failed != 0) throw ConfigError(diff.file.string() + ": " + line);
  return line;
}

std::string recorded_change(const RunDirectory& run) {
  return fs::exists(run.change()) ? read_file(run.change()) : "";
}

}  // namespace attn
