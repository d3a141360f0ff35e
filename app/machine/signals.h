// SIGINT, SIGTERM and SIGHUP make a run save and stop; a second SIGINT terminates the process
// immediately.
#pragma once

namespace attn {

/// Installs the handlers; only for commands that check stop_requested().
void catch_stop_signals();
bool stop_requested();
/// 128 + the number of the received signal, the shell's convention for processes terminated by a
/// signal; 0 if none was received.
int stop_exit_code();

}  // namespace attn
