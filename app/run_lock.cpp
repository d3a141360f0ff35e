#include "app/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/error.h"

namespace attn {

RunLock::RunLock(const std::filesystem::path& directory, double patience_seconds) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw DataError(directory.string() + ": cannot be made: " + error.message());
  const std::filesystem::path path = directory / "lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw DataError(path.string() +
                    ": cannot be written: " + std::generic_category().message(errno));
  }
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_seconds);
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (std::chrono::steady_clock::now() >= until) {
      ::close(file_);
      throw DataError(directory.string() +
                      ": another process trains this run; wait for it, or choose another directory "
                      "with --run");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace attn
