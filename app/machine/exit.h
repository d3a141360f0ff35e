// How the program ends: by an exception that reaches main(), or by a signal. SIGINT, SIGTERM and
// SIGHUP make a run save and stop; a second SIGINT terminates the process immediately. SIGPIPE is
// ignored: `2>&1 | head` does not end a training, whose log is a file.
#pragma once

#include <string>

#include "base/error.h"

namespace attn {

/// Error message and exit code for an exception that reaches main().
struct ExitReport {
  std::string message;
  ExitCode code = ExitCode::internal;
};

/// The report of the current exception. Must be called in a catch block.
ExitReport exit_report();

/// From now on a stop signal ends the process at once, with its exit code: nothing is to be saved.
void exit_on_stop_signals();
/// From now on a stop signal is noted; for work that checks stop_requested() or throws Stopped.
void catch_stop_signals();
bool stop_requested();
/// 128 + the number of the received signal, the shell's convention for processes terminated by a
/// signal; 0 if none was received.
int stop_exit_code();

}  // namespace attn
