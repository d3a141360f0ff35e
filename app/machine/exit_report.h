// What an exception that ends the program comes to: a line for people and an exit code.
#pragma once

#include <string>

#include "base/error.h"

namespace attn {

struct ExitReport {
  std::string message;
  ExitCode code = ExitCode::internal;
};

/// Of the exception that is being handled.
ExitReport exit_report();

}  // namespace attn
