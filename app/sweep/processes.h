// Child processes: a failing run does not affect the sweep.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attn {

/// Path of the running program.
std::filesystem::path program_path();

/// How a child ended.
struct ProcessEnd {
  int exit_code = 0;  ///< 128 + the signal's number if signalled
  bool signalled = false;
};

/// "exit code 3", "ended by signal 9 (out of memory?)".
std::string describe(const ProcessEnd& end);

struct ProcessRequest {
  std::vector<std::string> arguments;              ///< argv, with the program
  std::map<std::string, std::string> environment;  ///< added to the environment
  std::filesystem::path output;                    ///< stdout and stderr are appended here
};

/// Starts a program. It receives SIGTERM when this process dies. Throws DataError if it
/// cannot be started.
pid_t start_process(const ProcessRequest& request);

/// Waits up to `seconds` for any child to exit. Returns its process id and sets `end`; returns 0 if
/// none did.
pid_t wait_for_process(double seconds, ProcessEnd& end);

}  // namespace attn
