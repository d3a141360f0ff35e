// Shell completion, generated from the tree of commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attn {

/// Scripts that complete commands, flags and the values of flags with fixed choices; elsewhere file
/// names. `app` is the program with all its commands.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace attn
