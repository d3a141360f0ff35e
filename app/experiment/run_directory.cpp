#include "app/experiment/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>

#include "app/machine/shell.h"
#include "base/error.h"
#include "base/file.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// "process 12 on node7", for the message to others.
std::string own_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

// The content of a JSON file; null if it is not valid JSON.
Json json_of(const fs::path& path) {
  if (!fs::is_regular_file(path) || fs::file_size(path) > kMaxConfigBytes) return {};
  return Json::parse(read_file(path), nullptr, false);
}

bool is_config_file(const Json& json) {
  constexpr std::array sections = {"data", "model", "train", "search", "eval", "runtime"};
  return json.is_object() && !json.contains("rows") &&
         std::ranges::any_of(sections, [&](const char* key) { return json.contains(key); });
}

// A sweep directory's sweep.json, which is not the sweep file that was given.
bool is_plan(const Json& json) {
  return is_sweep_file(json) && json.contains("source") && json["source"].is_string();
}

// Whether attn has written the run: a config.json alone may be anybody's.
bool is_written_run(const RunDirectory& run) {
  return fs::exists(run.run_file()) || fs::exists(run.lock()) || fs::exists(run.change()) ||
         !list_checkpoints(run.checkpoints()).empty();
}

const char* noun_of(InputKind kind) {
  constexpr std::array nouns = {"a file or directory", "a config",    "a sweep", "a run",
                                "a sweep directory",   "a checkpoint"};
  return nouns.at(static_cast<size_t>(kind));
}

// What to do with a path of this kind.
std::string remedy(const fs::path& path, InputKind kind) {
  const std::string word = shell_word(path.string());
  if (kind == InputKind::config) return "train it with: attn train " + word;
  if (kind == InputKind::sweep) return "train its rows with: attn sweep " + word;
  if (kind == InputKind::run) return "resume it with: attn train " + word + " --resume";
  if (kind == InputKind::sweep_directory) return "its runs are in it, ROW/seed-N";
  return "its run is " + RunDirectory::of_checkpoint(path).path().string();
}

}  // namespace

RunDirectory RunDirectory::of_checkpoint(const fs::path& checkpoint) {
  const fs::path path = ModelDirectory(checkpoint).path();
  const fs::path above = path.parent_path();
  if (path.filename() == "averaged") return above;
  return above.filename() == "checkpoints" ? above.parent_path() : path;
}

bool RunDirectory::has_trained() const {
  return fs::exists(result()) || !list_checkpoints(checkpoints()).empty();
}

RunLock::RunLock(const fs::path& directory, double patience_seconds) {
  make_directories(directory);
  const fs::path path = RunDirectory(directory).lock();
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw_file_error("write", path, errno);
  const auto until = Clock::now() + std::chrono::duration<double>(patience_seconds);
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      std::cerr << "attn: " << path.string() << ": the file system has no locks ("
                << std::generic_category().message(errno)
                << "); make sure that no other process trains this run\n";
      return;
    }
    if (Clock::now() >= until) {
      ::close(file_);
      const std::string holder = read_file(path);
      throw DataError(directory.string() + ": another process is training this run" +
                      (holder.empty() ? "" : " (" + holder + ")") +
                      "; wait for it, or use another directory with --run");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  const std::string name = own_name();
  // On a full disk the lock holds without the name.
  [[maybe_unused]] const bool written =
      ::ftruncate(file_, 0) == 0 && ::write(file_, name.data(), name.size()) > 0;
}

RunLock::~RunLock() {
  ::close(file_);
}

bool is_sweep_file(const Json& json) {
  return json.is_object() && json.contains("rows") && !json.contains("model");
}

InputKind kind_of(const fs::path& path) {
  if (!fs::is_directory(path)) {
    const Json json = json_of(path);
    return is_plan(json)          ? InputKind::sweep_directory
           : is_sweep_file(json)  ? InputKind::sweep
           : is_config_file(json) ? InputKind::config
                                  : InputKind::other;
  }
  const ModelDirectory directory(path);
  return is_plan(json_of(path / kSweepFile)) ? InputKind::sweep_directory
         : directory.has_weights()           ? InputKind::checkpoint
         : directory.has_config()            ? InputKind::run
                                             : InputKind::other;
}

void require_input(const fs::path& path, const std::vector<InputKind>& expected) {
  const InputKind kind = kind_of(path);
  if (kind == InputKind::other || std::ranges::find(expected, kind) != expected.end()) return;
  throw ConfigError(path.string() + ": " + noun_of(kind) + ", not " + noun_of(expected.front()) +
                    "; " + remedy(path, kind));
}

void require_place(const fs::path& directory, InputKind kind) {
  if (!fs::exists(directory)) return;
  require_input(directory, {kind});
  const bool written = kind == InputKind::run
                           ? is_written_run(directory)
                           : kind_of(directory) == kind || kind_of(directory / "tune") == kind;
  if (fs::is_directory(directory) && (written || fs::is_empty(directory))) return;
  throw ConfigError(directory.string() + ": exists and is not " + noun_of(kind) +
                    "; give another directory with --run");
}

}  // namespace attn
