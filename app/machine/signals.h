// SIGINT and SIGTERM stop a run after saving; a second one ends the process at once.
#pragma once

namespace attn {

/// Installs the handlers; only for commands that check stop_requested().
void catch_stop_signals();
bool stop_requested();
/// 128 + the signal's number, the shell's convention for a process that a signal ended; 0 when none
/// came.
int stop_exit_code();

}  // namespace attn
