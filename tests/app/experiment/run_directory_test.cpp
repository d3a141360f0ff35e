#include "app/experiment/run_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "app/experiment/run_result.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "train/checkpoint_store.h"

using namespace attn;

namespace fs = std::filesystem;

TEST_CASE("the run of a checkpoint, of an average and of a run itself is the run") {
  const RunDirectory run("runs/a");
  CHECK(RunDirectory::of_checkpoint(checkpoint_path(run.checkpoints(), 500)).path() == run.path());
  CHECK(RunDirectory::of_checkpoint(run.averaged()).path() == run.path());
  CHECK(RunDirectory::of_checkpoint(run.path()).path() == run.path());
  CHECK(RunDirectory::of_checkpoint(run.averaged() / "").path() == run.path());
}

TEST_CASE("a trailing slash does not change a run") {
  CHECK(RunDirectory("runs/a/").path() == fs::path("runs/a"));
  CHECK(RunDirectory("/").path() == fs::path("/"));
  CHECK(RunDirectory("").path().empty());
  const testing::TemporaryDirectory directory;
  const fs::path run = directory.path() / "row" / "seed-1";
  fs::create_directories(run);
  log_failure(directory.path() / "row" / "seed-1.log", "ended by signal 9");
  CHECK(failure_of(run) == "ended by signal 9");
  CHECK(failure_of(run / "") == "ended by signal 9");
}

TEST_CASE("a config alone is a run that has not trained; a checkpoint or a result has") {
  const testing::TemporaryDirectory directory;
  const RunDirectory run(directory.path());
  CHECK_FALSE(run.has_run());
  write_file_atomically(run.config(), "{}");
  CHECK(run.has_run());
  CHECK_FALSE(run.has_trained());
  SECTION("a checkpoint") {
    fs::create_directories(checkpoint_path(run.checkpoints(), 20));
  }
  SECTION("a result") {
    write_file_atomically(run.result(), "{}");
  }
  CHECK(run.has_trained());
}

TEST_CASE("verify_checkpoint accepts the files of a model directory") {
  const testing::TemporaryDirectory directory;
  const ModelDirectory model(directory.path());
  for (const std::string_view name : checkpoint_files) {
    const fs::path path = model.path() / name;
    CHECK((path == model.weights() || path == model.training_state() || path == model.config()));
  }
}

TEST_CASE("a run has one holder, which the error names") {
  const testing::TemporaryDirectory folder;
  {
    const RunLock lock(folder / "run");
    CHECK_THROWS_WITH(RunLock(folder / "run"),
                      testing::contains("another process is training this run (process " +
                                        std::to_string(::getpid()) + " on "));
    CHECK_THROWS_WITH(RunLock(folder / "run", 0.3),
                      testing::contains("another process is training"));
  }
  CHECK_NOTHROW(RunLock(folder / "run"));
}

TEST_CASE("a lock of a process that was killed, or of another boot, is free at once") {
  const testing::TemporaryDirectory folder;
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
