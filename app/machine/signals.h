// SIGINT and SIGTERM ask a run to save and stop; a second one ends it at once.
#pragma once

namespace attn {

/// Installs the handlers. Only for commands that look at stop_requested().
void catch_stop_signals();
bool stop_requested();
/// 128 + the signal's number, the shell's convention for a process that a signal ended; 0 when none
/// came.
int stop_exit_code();

}  // namespace attn
