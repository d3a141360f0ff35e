// User errors. Other exceptions are bugs, except those for failures of a run, each declared where
// it is thrown: NonFiniteLoss, CommunicationError, and LibTorch's when memory is exhausted.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attn {

/// Exit codes of the program.
/// busy: another process trains the run.
enum class ExitCode : int { done = 0, internal = 1, config = 2, data = 3, busy = 4 };

/// The text in one line: line feeds and tabs as "\\n" and "\\t", other control characters and
/// malformed UTF-8 as "\\x00".
std::string printable(std::string_view text);

/// Base class of user errors. The message is one line with the place, the value and the remedy; it
/// is made printable, since a value may be any bytes of a file.
class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, const std::string& message)
      : std::runtime_error(printable(message)), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Invalid config or command line: exit code 2.
class ConfigError : public UserError {
 public:
  explicit ConfigError(const std::string& message) : UserError(ExitCode::config, message) {}
};

/// Missing, invalid or unwritable file: exit code 3.
class DataError : public UserError {
 public:
  explicit DataError(const std::string& message) : UserError(ExitCode::data, message) {}
};

/// Throws DataError "cannot ACTION 'PATH': REASON" with the system's text for the error. `error` is
/// a value of errno; 0, which a failed stream may leave there, is reported as an I/O error.
[[noreturn]] void throw_file_error(std::string_view action, const std::filesystem::path& path,
                                   int error);

}  // namespace attn
