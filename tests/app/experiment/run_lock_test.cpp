// Only one process trains a run, also on file systems without locks (`system_locks = false`).
#include "app/experiment/run_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;
namespace fs = std::filesystem;

namespace {

constexpr RunLockOptions kWithoutLocks{.beat = 0.05, .dead_after = 30.0, .system_locks = false};

// As a process on another machine leaves it.
void write_foreign_record(const fs::path& file, int beats) {
  write_file_atomically(
      file, R"({"token": "theirs", "host": "node7", "system": "theirs", "processes": "", )"
            R"("process": 1, "beats": )" +
                std::to_string(beats) + "}\n");
}

double seconds_for(const fs::path& directory, const RunLockOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const RunLock lock(directory, options);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("a run has one holder, which the error names") {
  const TemporaryDirectory folder;
  {
    const RunLock lock(folder / "run");
    CHECK_NOTHROW(lock.require());
    CHECK_THROWS_WITH(RunLock(folder / "run"),
                      contains("another process is training this run (process " +
                               std::to_string(::getpid()) + " on "));
    CHECK_THROWS_WITH(RunLock(folder / "run", 0.3), contains("another process is training"));
    CHECK_NOTHROW(lock.require());
  }
  CHECK_FALSE(fs::exists(folder / "run/lock.holder"));
  CHECK_NOTHROW(RunLock(folder / "run"));
}

TEST_CASE("without system locks a living holder excludes other processes") {
  const TemporaryDirectory folder;
  {
    const RunLock lock(folder.path(), kWithoutLocks);
    CHECK_THROWS_WITH(RunLock(folder.path(), kWithoutLocks),
                      contains("another process is training"));
    CHECK_NOTHROW(lock.require());
  }
  CHECK(seconds_for(folder.path(), kWithoutLocks) < 5.0);
}

TEST_CASE("a system lock invisible to other machines is backed by a heartbeat") {
  const TemporaryDirectory folder;
  write_foreign_record(folder / "lock.holder", 0);
  std::thread theirs([&] {
    for (int beats = 1; beats < 30; ++beats) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      write_foreign_record(folder / "lock.holder", beats);
    }
  });
  // The system's lock is free here.
  CHECK_THROWS_WITH(RunLock(folder.path(), RunLockOptions{.beat = 0.05, .dead_after = 30.0}),
                    contains("process 1 on node7"));
  theirs.join();
}

TEST_CASE("a holder without a heartbeat is replaced, and notices it later") {
  const TemporaryDirectory folder;
  const RunLock asleep(folder.path(), RunLockOptions{.beat = 1e4, .system_locks = false});
  {
    const RunLock next(folder.path(),
                       RunLockOptions{.beat = 0.05, .dead_after = 0.3, .system_locks = false});
    CHECK_NOTHROW(next.require());
    CHECK_THROWS_WITH(asleep.require(), contains("another process is training"));
  }
  write_foreign_record(folder / "lock.holder", 3);
  CHECK(seconds_for(folder.path(), {.beat = 0.05, .dead_after = 0.3}) >= 0.3);
}

TEST_CASE("a killed process of this machine is replaced at once") {
  const TemporaryDirectory folder;
  for (const bool system_locks : {true, false}) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const RunLock lock(folder.path(), RunLockOptions{.system_locks = system_locks});
      ::_exit(0);  // without its destructor
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(fs::exists(folder / "lock.holder"));
    CHECK(seconds_for(folder.path(), {.system_locks = system_locks}) < 5.0);
  }
}
