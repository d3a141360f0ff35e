#include "app/sweep/mps.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "app/machine/processes.h"
#include "base/file.h"
#include "base/hash.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Runs a line of shell, whose output is appended to `log`; returns whether it succeeded.
bool shell(const std::string& line, const std::map<std::string, std::string>& environment,
           const fs::path& log) {
  const std::string to_log = "exec >>" + shell_quoted(log.string()) + " 2>&1; ";
  return output_of(to_log + exported(environment) + line).exit_code == 0;
}

constexpr const char* kAnswers = "echo get_server_list | timeout 10 nvidia-cuda-mps-control";

}  // namespace

MpsServer::MpsServer(const fs::path& folder) {
  const fs::path place = fs::absolute(folder);
  const fs::path log = place / "control.out";
  if (!shell("command -v nvidia-cuda-mps-control", {}, "/dev/null")) return;
  make_directories(place);
  if (shell(kAnswers, {}, log)) {
    note_ = "MPS: the runs share the server that is there already";
    return;
  }
  environment_ = {{"CUDA_MPS_PIPE_DIRECTORY", place.string()},
                  {"CUDA_MPS_LOG_DIRECTORY", place.string()}};
  lock_ = ::open((place / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ::flock(lock_, LOCK_EX | LOCK_NB);
  // With a list of GPUs it numbers those from 0, and its clients, with the same list, find none.
  const std::string start = "unset CUDA_VISIBLE_DEVICES; timeout 60 nvidia-cuda-mps-control -d";
  if (shell(kAnswers, environment_, log) ||
      (shell(start, environment_, log) && shell(kAnswers, environment_, log))) {
    note_ = "MPS: the runs share the GPU at the same time (runtime.mps=off: in turns)";
    return;
  }
  environment_.clear();
  note_ = "MPS: its server does not start (" + log.string() + "); the runs take turns on the GPU";
}

fs::path MpsServer::folder_of(const fs::path& sweep) {
  const std::string name = fs::weakly_canonical(fs::absolute(sweep)).string();
  return user_temporary_directory() / ("mps-" + to_hex(hash_text(name)));
}

MpsServer::~MpsServer() {
  const bool ends = lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
  if (environment_.empty() || !ends) return;
  const fs::path log = fs::path(environment_.at("CUDA_MPS_LOG_DIRECTORY")) / "control.out";
  try {
    const char* const quit = "echo quit | timeout 60 nvidia-cuda-mps-control";
    if (shell(quit, environment_, log)) fs::remove_all(log.parent_path());
  } catch (const std::exception&) {  // no process can be started: the server stays
  }
  ::close(lock_);
}

}  // namespace attn
