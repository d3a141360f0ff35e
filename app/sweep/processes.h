// Child processes: a row that fails, or runs out of memory, does not take the sweep with it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attn {

/// The running program's own file, for starting it again.
std::filesystem::path program_path();

/// How a child ended.
struct ProcessEnd {
  int exit_code = 0;  ///< or 128 + the signal's number
  bool signalled = false;
};

/// "exit code 3", "ended by signal 9 (out of memory?)".
std::string describe(const ProcessEnd& end);

struct ProcessRequest {
  std::vector<std::string> arguments;              ///< the program first
  std::map<std::string, std::string> environment;  ///< added to this process's
  std::filesystem::path output;                    ///< stdout and stderr are appended here
};

/// Starts a program; where the system can (Linux), it gets SIGTERM when this process dies, so that
/// nothing trains on unseen. Throws DataError when it cannot be started.
pid_t start_process(const ProcessRequest& request);

/// Waits up to `seconds` for any child to end; returns its id and `end`, or 0 when none did.
pid_t wait_for_process(double seconds, ProcessEnd& end);

/// Runs a program to its end.
ProcessEnd run_process(const ProcessRequest& request);

}  // namespace attn
