// What subcommands share with main: the command line as it was typed, and the exit code.
#pragma once

#include <string>

namespace attn {

void set_command_line(int argc, char** argv);
const std::string& command_line();

void set_exit_code(int code);
int exit_code();

}  // namespace attn
