// Only one process trains a run.
#include "app/experiment/run_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("a run has one holder, which the error names") {
  const TemporaryDirectory folder;
  {
    const RunLock lock(folder / "run");
    CHECK_THROWS_WITH(RunLock(folder / "run"),
                      contains("another process is training this run (process " +
                               std::to_string(::getpid()) + " on "));
    CHECK_THROWS_WITH(RunLock(folder / "run", 0.3), contains("another process is training"));
  }
  CHECK_NOTHROW(RunLock(folder / "run"));
}

TEST_CASE("a lock of a process that was killed, or of another boot, is free at once") {
  const TemporaryDirectory folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const RunLock lock(folder.path());
    ::_exit(0);  // without its destructor
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(std::filesystem::exists(folder / "lock"));
  CHECK_NOTHROW(RunLock(folder.path()));
  std::ofstream(folder / "lock") << "process 1 on another machine, before its reboot";
  CHECK_NOTHROW(RunLock(folder.path()));
}
