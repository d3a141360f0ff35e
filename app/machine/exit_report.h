// Error message and exit code for an exception that reaches main().
#pragma once

#include <string>

#include "base/error.h"

namespace attn {

struct ExitReport {
  std::string message;
  ExitCode code = ExitCode::internal;
};

/// The report of the current exception. Must be called in a catch block.
ExitReport exit_report();

}  // namespace attn
