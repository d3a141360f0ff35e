// Words and commands of a POSIX shell, and child processes: a sweep survives a failing run.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attn {

/// The text as a single-quoted shell word.
std::string shell_quoted(const std::string& text);

/// The same without quotes where none are needed.
std::string shell_word(const std::string& text);

/// "export NAME='VALUE'; " for each variable.
std::string exported(const std::map<std::string, std::string>& environment);

struct CommandOutput {
  int exit_code = 0;  ///< 127: not found
  std::string text;   ///< stdout and stderr, without the last line's end
};

/// Runs a command line of the shell.
CommandOutput output_of(const std::string& command);

/// Path of the running program.
std::filesystem::path program_path();
/// The source folder of the build folder that it is in; "" if it is in none.
std::filesystem::path source_folder();

/// The folder of this user's temporary files, attn-UID in the system's one. Throws DataError if it
/// is somebody else's, who could replace what is in it.
std::filesystem::path user_temporary_directory();

/// How a child ended.
struct ProcessEnd {
  int exit_code = 0;  ///< 128 + the signal's number if signalled
  bool signalled = false;
};

/// "exit code 3", "ended by signal 9 (out of memory?)".
std::string describe(const ProcessEnd& end);

struct ProcessRequest {
  std::vector<std::string> arguments;              ///< argv, with the program
  std::string launcher;                            ///< "mpirun -np 2", which starts it; empty: none
  std::map<std::string, std::string> environment;  ///< added to the environment
  std::filesystem::path output;                    ///< stdout and stderr are appended here
};

/// Starts a program. It receives SIGTERM when this process dies. Throws DataError if it
/// cannot be started.
pid_t start_process(const ProcessRequest& request);

/// Waits up to `seconds` for any child to exit; returns its process id, or 0, and sets `end`.
pid_t wait_for_process(double seconds, ProcessEnd& end);

}  // namespace attn
