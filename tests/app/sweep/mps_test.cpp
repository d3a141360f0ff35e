#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/sweep/mps.h"
#include "app/sweep/runner.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;
namespace fs = std::filesystem;

namespace {

// RAII: an environment variable.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

fs::path write_program(const fs::path& path, const std::string& text) {
  write_file_atomically(path, "#!/bin/sh\n" + text);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

// A control program whose server is the file `server` in its pipe directory; it does not start
// where there is a file `refuse`.
struct ControlProgram {
  testing::TemporaryDirectory folder;
  fs::path program = write_program(folder / "nvidia-cuda-mps-control", R"(
pipe=${CUDA_MPS_PIPE_DIRECTORY:-/nowhere}
if [ "$1" = -d ]; then [ -z "$CUDA_VISIBLE_DEVICES" ] && [ ! -e "$pipe/refuse" ] && touch "$pipe/server"; exit; fi
read -r word
[ -e "$pipe/server" ] || exit 1
[ "$word" != quit ] || rm "$pipe/server"
)");
  Variable path{"PATH", folder.path().string() + ":" + std::getenv("PATH")};
};

}  // namespace

TEST_CASE("without MPS's control program nothing is started or said") {
  const testing::TemporaryDirectory folder;
  const Variable path("PATH", folder.path().string());
  const MpsServer server(folder / "mps");
  CHECK(server.note().empty());
  CHECK(server.environment().empty());
}

TEST_CASE("a sweep's MPS server is ended with it, also one that a killed sweep left") {
  const ControlProgram control;
  const testing::TemporaryDirectory folder;
  const fs::path place = folder / "mps", running = place / "server";
  const bool left = GENERATE(false, true);
  const Variable gpus("CUDA_VISIBLE_DEVICES", "1");
  make_directories(place);
  if (left) write_file_atomically(running, "");
  {
    const MpsServer server(place);
    CHECK(server.environment().at("CUDA_MPS_PIPE_DIRECTORY") == place.string());
    CHECK_THAT(server.note(), contains("runtime.mps=off"));
    CHECK(fs::exists(running));
  }
  CHECK_FALSE(fs::exists(running));
}

TEST_CASE("a server that does not start is one line, and one of somebody else stays") {
  const ControlProgram control;
  const testing::TemporaryDirectory folder, other;
  write_file_atomically(folder / "refuse", "");
  CHECK_THAT(MpsServer(folder.path()).note(), contains("does not start"));
  CHECK(MpsServer(folder.path()).environment().empty());
  write_file_atomically(other / "server", "");
  const Variable pipe("CUDA_MPS_PIPE_DIRECTORY", other.path().string());
  CHECK_THAT(MpsServer(folder.path()).note(), contains("there already"));
  CHECK(fs::exists(other / "server"));
}

TEST_CASE("runs that fail under MPS are resumed once without it") {
  const ControlProgram control;
  const testing::TemporaryDirectory folder;
  SweepPlan plan{.directory = folder.path()};
  plan.rows.resize(1);
  for (const char* name : {"a/seed-1", "a/seed-2"}) {
    PlannedRun run{.row = 0, .name = name, .directory = folder / name};
    run.experiment.train.steps = 5;
    make_directories(run.directory);
    plan.runs.push_back(std::move(run));
  }
  const bool fails = GENERATE(false, true);
  const fs::path launcher = write_program(
      folder / "launch",
      "echo run >> " + (folder / "runs").string() +
          "\n[ -z \"$CUDA_MPS_PIPE_DIRECTORY\" ] || exit 9\n" +
          (fails ? "exit 8\n" : "echo '{\"step\": 5}' > \"$9/result.json\"  # --run $9\n"));
  const SweepEnd end = run_sweep(plan, {.device = "cpu", .gpus = 1, .jobs = 2}, launcher.string());
  CHECK(end.finished == (fails ? 0u : 2u));
  CHECK(end.failed.size() == (fails ? 2u : 0u));
  CHECK(read_file(folder / "runs") == "run\nrun\nrun\nrun\n");
  CHECK_FALSE(fs::exists(MpsServer::folder_of(folder.path()) / "server"));
}
