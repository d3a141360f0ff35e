// What subcommands share with main: the command line as it was typed, and the exit code.
#pragma once

#include <string>

#include "app/experiment.h"

namespace attn {

void set_command_line(int argc, char** argv);
const std::string& command_line();

void set_exit_code(int code);
int exit_code();

/// Throws ConfigError naming the first of data.train, source and target that an experiment leaves
/// empty.
void require_paths(const Experiment& experiment);

}  // namespace attn
