#include "app/machine/processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <thread>

#include "app/machine/version.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

ProcessEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.exit_code = 128 + WTERMSIG(status), .signalled = true};
  return {.exit_code = WEXITSTATUS(status), .signalled = false};
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = text;
  replace_all(out, "'", "'\\''");
  return "'" + out + "'";
}

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "_-+=.,:/@%0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const bool plain = text.find_first_not_of(kPlain) == text.npos;
  return plain && !text.empty() ? text : shell_quoted(text);
}

std::string exported(const std::map<std::string, std::string>& environment) {
  std::string line;
  for (const auto& [name, value] : environment) {
    line += "export " + name + "=" + shell_quoted(value) + "; ";
  }
  return line;
}

CommandOutput output_of(const std::string& command) {
  CommandOutput output{.exit_code = 127};
  FILE* pipe = ::popen(("(" + command + ") 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const size_t read = std::fread(buffer, 1, sizeof buffer, pipe)) {
    output.text.append(buffer, read);
  }
  if (output.text.ends_with('\n')) output.text.pop_back();
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

std::filesystem::path program_path() {
  std::string path = std::filesystem::read_symlink("/proc/self/exe").string();
  constexpr std::string_view kDeleted = " (deleted)";  // appended by the kernel after a build
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

std::filesystem::path source_folder() {
  const auto cache = program_path().parent_path().parent_path() / "CMakeCache.txt";
  const std::string home = first_value(cache, "CMAKE_HOME_DIRECTORY:INTERNAL");
  return home.substr(home.find('=') + 1);  // npos + 1 is 0
}

std::filesystem::path user_temporary_directory() {
  const auto path = temporary_root() / format("attn-%u", ::getuid());
  struct stat made;
  if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) || ::lstat(path.c_str(), &made) != 0) {
    throw_file_error("write", path, errno);
  }
  if (S_ISDIR(made.st_mode) && made.st_uid == ::getuid()) return path;
  throw DataError(path.string() + ": is not a directory of this user; set TMPDIR");
}

std::string describe(const ProcessEnd& end) {
  if (!end.signalled) return std::string("exit code ") + std::to_string(end.exit_code);
  const int number = end.exit_code - 128;
  std::string text = "ended by signal ";
  text += std::to_string(number);
  if (number == SIGKILL) text += " (out of memory?)";
  return text;
}

pid_t start_process(const ProcessRequest& request) {
  // No allocation after fork: the child may only use async-signal-safe calls.
  const std::string exec = exported(request.environment) + "exec " + request.launcher + " \"$@\"";
  std::vector<std::string> arguments = {"/bin/sh", "-c", exec, "sh"};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int output =
      ::open(request.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (output < 0) {
    throw_file_error("write", request.output, errno);
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(126);  // the parent is already dead
    // Own process group: Ctrl-C only reaches the sweep, which then stops its children.
    ::setpgid(0, 0);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  const int error = errno;
  if (child > 0) ::setpgid(child, child);  // whichever of the two is first
  ::close(output);
  if (child < 0) {
    throw DataError("a process cannot be started: " + std::generic_category().message(error));
  }
  return child;
}

pid_t wait_for_process(double seconds, ProcessEnd& end) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, WNOHANG);
    if (child > 0) {
      end = end_of(status);
      return child;
    }
    if (child < 0 && errno != EINTR) {
      throw DataError("cannot wait for a process: " + std::generic_category().message(errno));
    }
    if (std::chrono::steady_clock::now() >= until) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace attn
