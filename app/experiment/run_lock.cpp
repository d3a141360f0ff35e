#include "app/experiment/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>

#include "app/experiment/run_directory.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kLongestName = 1000;

// "process 12 on node7", for the message to others.
std::string own_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

}  // namespace

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
      const std::string holder = read_file(path, kLongestName);
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

}  // namespace attn
