// The two kinds of mistakes a user can make. Everything else that goes wrong is a bug of ours.
#pragma once

#include <stdexcept>
#include <string>

namespace attn {

/// Exit codes of the program; `done` and `internal` are used by main alone.
enum class ExitCode : int { done = 0, internal = 1, config = 2, data = 3 };

/// Base of all errors whose message is meant for the user: one line with place, value and remedy.
class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A wrong configuration or command line: exit code 2.
class ConfigError : public UserError {
 public:
  explicit ConfigError(const std::string& message) : UserError(ExitCode::config, message) {}
};

/// A file that is missing, broken, foreign or cannot be written: exit code 3.
class DataError : public UserError {
 public:
  explicit DataError(const std::string& message) : UserError(ExitCode::data, message) {}
};

}  // namespace attn
