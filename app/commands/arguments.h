// What the commands' options share, and the errors of a command line in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_patch.h"

namespace attn {

/// Adds --set, which takes one or several path=value.
CLI::Option* add_set(CLI::App* command, std::vector<Assignment>& assignments,
                     const std::string& about = "override an option, path=value",
                     const std::string& name = "--set");

/// Adds the models of a command, one or an ensemble.
void add_runs(CLI::App* command, std::vector<std::filesystem::path>& runs);

/// Parses the arguments and runs the command, or prints what --help or --version asks for. Throws
/// ConfigError naming the command, also for empty values, which CLI11 would ignore.
void run_command(CLI::App& app, std::vector<std::string> arguments);

}  // namespace attn
