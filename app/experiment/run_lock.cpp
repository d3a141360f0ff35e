#include "app/experiment/run_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>

#include "app/experiment/run_directory.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kLargestRecord = 1 << 16;

/// Content of lock.holder.
struct Holder {
  std::string token;
  std::string host;
  std::string system;     // boot id of the kernel, which containers on one machine share
  std::string processes;  // pid namespace of `process`
  int64_t process = 0;
  int64_t beats = 0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("token", self.token, "random, unique to this holder");
    visit("host", self.host, "its name");
    visit("system", self.system, "the running kernel");
    visit("processes", self.processes, "the namespace of the process id");
    visit("process", self.process, "id");
    visit("beats", self.beats, "heartbeats so far");
  }
};

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

/// The boot id on Linux, else the host name.
std::string running_system() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  return std::getline(file, id) && !id.empty() ? id : host_name();
}

std::string process_namespace() {
  std::error_code error;
  const fs::path name = fs::read_symlink("/proc/self/ns/pid", error);
  return error ? "" : name.string();
}

fs::path holder_file(const fs::path& directory) {
  return RunDirectory(directory).lock_holder();
}

/// The content, possibly incomplete; std::nullopt if the file does not exist.
std::optional<std::string> read_record(const fs::path& directory) {
  try {
    return read_file(holder_file(directory), kLargestRecord);
  } catch (const DataError&) {
    std::error_code ignored;
    if (fs::status(holder_file(directory), ignored).type() == fs::file_type::not_found) return {};
    throw;
  }
}

std::optional<Holder> parse_record(const std::string& text) {
  try {
    Holder holder;
    read_config(holder, parse_json(text, "lock.holder"));
    return holder;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// Whether the holder is certainly dead.
bool is_dead(const Holder& holder, bool locked) {
  if (holder.system != running_system()) return false;
  if (locked) return true;  // locks are reliable within a machine
  return holder.processes == process_namespace() &&
         ::kill(static_cast<pid_t>(holder.process), 0) != 0 && errno == ESRCH;
}

[[noreturn]] void report_other(const fs::path& directory, const std::string& who) {
  throw DataError(directory.string() + ": another process is training this run" + who +
                  "; wait for it, or use another directory with --run");
}

std::string name_of(const std::optional<Holder>& holder) {
  if (!holder) return "";
  return " (process " + std::to_string(holder->process) + " on " + holder->host + ")";
}

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

}  // namespace

RunLock::RunLock(const fs::path& directory, const RunLockOptions& options)
    : directory_(directory), options_(options), token_(temporary_suffix()) {
  make_directories(directory);
  try {
    take_system_lock();
    take_holder_file();
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    throw;
  }
  // Signals go to the training thread.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  heart_ = std::thread([this] { keep_alive(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void RunLock::take_system_lock() {
  const fs::path path = RunDirectory(directory_).lock();
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw_file_error("write", path, errno);
  }
  const auto until = Clock::now() + seconds(options_.patience);
  while (options_.system_locks && ::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      std::cerr << "attn: " << path.string() << ": the file system does not support locks: "
                << std::generic_category().message(errno) << "; using lock.holder instead\n";
      return;
    }
    if (Clock::now() >= until) {
      const auto record = read_record(directory_);
      report_other(directory_, record ? name_of(parse_record(*record)) : "");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  locked_ = options_.system_locks;
}

// Exclusive creation works on file systems without locks as well.
void RunLock::take_holder_file() {
  const fs::path path = holder_file(directory_);
  while (true) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      ::close(file);
      return write_file_atomically(path, record(0));
    }
    if (errno != EEXIST) {
      throw_file_error("write", path, errno);
    }
    wait_for_holder();
  }
}

// Returns when there is no holder: it released the lock, or it was dead and its file was removed.
void RunLock::wait_for_holder() {
  const auto begin = Clock::now();
  auto changed = begin;
  bool alive = false, said = false;
  auto seen = read_record(directory_);
  while (seen) {
    const auto holder = parse_record(*seen);
    const bool dead = holder && is_dead(*holder, locked_);
    if (dead || Clock::now() - changed >= seconds(options_.dead_after)) {
      if (!dead) {
        std::cerr << "attn: " << directory_.string() << ": taking over the lock of a process"
                  << name_of(holder) << " that stopped updating lock.holder\n";
      }
      // Renamed before the check: another process may have taken over meanwhile.
      const fs::path aside = make_temporary_file(holder_file(directory_));
      const bool moved = ::rename(holder_file(directory_).c_str(), aside.c_str()) == 0;
      if (moved && read_file(aside, kLargestRecord) != *seen) {
        [[maybe_unused]] const int put_back =
            ::link(aside.c_str(), holder_file(directory_).c_str());
      }
      ::unlink(aside.c_str());
      return;
    }
    if (alive && Clock::now() - begin >= seconds(options_.patience)) {
      report_other(directory_, name_of(holder));
    }
    if (!said && !alive) {
      std::cerr << "attn: " << directory_.string() << ": held by a process" << name_of(holder)
                << "; waiting up to " << options_.dead_after << " seconds for a heartbeat\n";
      said = true;
    }
    std::this_thread::sleep_for(seconds(options_.beat / 10));
    auto now = read_record(directory_);
    if (now && now != seen) {
      alive = true;
      changed = Clock::now();
    }
    seen = std::move(now);
  }
}

std::string RunLock::record(int64_t beats) const {
  const Holder holder{.token = token_,
                      .host = host_name(),
                      .system = running_system(),
                      .processes = process_namespace(),
                      .process = ::getpid(),
                      .beats = beats};
  return write_config(holder).dump() + "\n";
}

void RunLock::keep_alive() {
  std::unique_lock lock(mutex_);
  for (int64_t beats = 1; !end_.wait_for(lock, seconds(options_.beat), [&] { return ending_; });
       ++beats) {
    try {
      require();
      write_file_atomically(holder_file(directory_), record(beats));
    } catch (const std::exception&) {
      // Retried later if the disk is full or the file system does not answer; a replaced holder
      // stops its heartbeat.
    }
  }
}

void RunLock::require() const {
  const auto text = read_record(directory_);
  const auto holder = text ? parse_record(*text) : std::nullopt;
  if (!holder || holder->token == token_) return;
  report_other(directory_, name_of(holder));
}

RunLock::~RunLock() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (heart_.joinable()) heart_.join();
  try {
    require();
    std::error_code ignored;
    fs::remove(holder_file(directory_), ignored);
  } catch (const std::exception&) {
    // Taken over by another process, or the file system does not answer.
  }
  if (file_ >= 0) ::close(file_);
}

}  // namespace attn
