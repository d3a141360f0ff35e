#include "app/experiment/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <string_view>
#include <system_error>
#include <thread>

#include "app/machine/processes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

constexpr std::string_view kProcess = "process ";

// "process 12 on node7", for the message to others.
std::string own_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return std::string(kProcess) + std::to_string(::getpid()) + " on " + host.data();
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

bool is_sweep_file(const Json& json) {
  return json.is_object() && json.contains("rows") && !json.contains("model");
}

// A sweep directory's sweep.json, which is not the sweep file that was given.
bool is_plan(const Json& json) {
  return is_sweep_file(json) && json.contains("source") && json["source"].is_string();
}

// Whether attn has written the run: a config.json, or another file's name, may be anybody's.
bool is_written_run(const RunDirectory& run) {
  const Json facts = json_of(run.run_file());
  const fs::path lock = run.lock(), planned = fs::path(run.path()).concat(".json");
  return (facts.is_object() && facts.contains("commit")) ||
         (fs::is_regular_file(lock) &&
          (fs::is_empty(lock) || read_file(lock, kMaxConfigBytes).starts_with(kProcess))) ||
         (fs::exists(run.change()) && fs::exists(planned)) ||
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
  if (kind == InputKind::sweep_directory) {
    return "its runs are in it, ROW/seed-N; report it with: attn report " + word;
  }
  return "its run is " + RunDirectory::of_checkpoint(path).path().string();
}

constexpr std::array<std::string_view, 2> kNeeded = {kWeightsFile, kConfigFile};

// A path such as "runs/base@best", split at the '@'.
struct Selector {
  RunDirectory run;
  std::string which;

  std::string text() const { return run.path().string() + "@" + which; }
};

// std::nullopt if `path` exists, or if what is before the last '@' does not.
std::optional<Selector> selector_of(const fs::path& path) {
  const std::string text = path.string();
  const size_t at = text.rfind('@');
  if (at == std::string::npos || text.find('/', at) != std::string::npos || fs::exists(path) ||
      !fs::exists(text.substr(0, at))) {
    return {};
  }
  return Selector{.run = fs::path(text.substr(0, at)), .which = text.substr(at + 1)};
}

// The newest checkpoint; std::nullopt if there is none. A damaged one is an error: scores of an
// earlier one would be taken for those of the last. Only a resumed training continues from that.
std::optional<fs::path> last_checkpoint(const RunDirectory& run) {
  const auto all = list_checkpoints(run.checkpoints());
  if (all.empty()) return {};
  verify_checkpoint(all.back().path, kNeeded, Verified::header);
  return all.back().path;
}

fs::path find_selected(const Selector& selector) {
  const auto& [run, which] = selector;
  if (run.has_weights()) {
    throw ConfigError(selector.text() + ": " + run.path().string() +
                      " is a checkpoint, not a run; leave out @" + which);
  }
  const auto missing = [&](const std::string& why) {
    return DataError(selector.text() + ": " + why + "; its checkpoints are in " +
                     run.checkpoints().string());
  };
  if (which == "average") {
    if (RunDirectory(run.averaged()).has_weights()) return run.averaged();
    throw missing("no average; create it with `attn average " + shell_word(run.path().string()) +
                  "`");
  }
  if (which == "last") {
    if (const auto last = last_checkpoint(run)) return *last;
    throw missing("no checkpoint");
  }
  if (which == "best") {
    if (const auto best = best_checkpoint(run.checkpoints())) return best->checkpoint.path;
    throw missing("no checkpoint is marked as the best");
  }
  const auto step = parse_number<int64_t>(which);
  if (!step || *step < 0) {
    throw ConfigError(selector.text() + ": \"" + which + "\" is not best, last, average or a step");
  }
  const fs::path path = checkpoint_path(run.checkpoints(), *step);
  if (!fs::exists(path)) throw missing("no checkpoint at this step");
  return path;
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

RunLock::RunLock(const fs::path& directory, double wait_seconds) {
  make_directories(directory);
  const fs::path path = RunDirectory(directory).lock();
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) throw_file_error("write", path, errno);
  const auto until = Clock::now() + std::chrono::duration<double>(wait_seconds);
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
      throw UserError(ExitCode::busy, directory.string() +
                                          ": another process is training this run" +
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
  const fs::path plan = directory / kSweepFile;
  const bool written =
      kind == InputKind::run
          ? is_written_run(directory)
          : kind_of(directory) == kind || kind_of(directory / "tune") == kind ||
                (json_of(plan).is_discarded() && fs::is_directory(directory / "vocabulary"));
  if (fs::is_directory(directory) && (written || fs::is_empty(directory))) return;
  throw ConfigError(directory.string() + ": exists and is not " + noun_of(kind) +
                    "; give another directory with --run");
}

fs::path find_checkpoint(const fs::path& path) {
  if (const auto selector = selector_of(path)) return find_selected(*selector);
  const RunDirectory run(path);
  if (run.has_weights()) return path;
  const ModelDirectory averaged(run.averaged());
  if (averaged.has_weights()) return averaged.path();
  if (!fs::exists(path)) throw DataError(path.string() + ": no such run or checkpoint");
  require_input(path, {InputKind::run, InputKind::checkpoint});
  if (!fs::is_directory(path)) {
    throw DataError(path.string() +
                    ": a file; give the directory of a run or checkpoint, and a text with --input "
                    "or on standard input");
  }
  if (const auto best = best_checkpoint(run.checkpoints())) return best->checkpoint.path;
  if (const auto last = last_checkpoint(run)) return *last;
  throw DataError(path.string() + ": neither a checkpoint (no " + std::string(kWeightsFile) +
                  ") nor a run with checkpoints; train one with `attn train`");
}

}  // namespace attn
