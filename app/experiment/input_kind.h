// What a path is, so that one that was given to the wrong command is named for what it is, and
// nothing is written over what this program has not written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_patch.h"

namespace attn {

/// File name of the resolved plan in a sweep directory.
inline constexpr const char* kSweepFile = "sweep.json";

enum class InputKind { other, config, sweep, run, sweep_directory, checkpoint };

/// `sweep_directory`: or its sweep.json. `other` includes what does not exist.
InputKind kind_of(const std::filesystem::path& path);

/// Whether the JSON is a sweep.
bool is_sweep_file(const Json& json);

/// Throws ConfigError if the path is of a kind other than these, which says what to do with it.
/// Says nothing of `other`: whoever reads it does.
void require_input(const std::filesystem::path& path, const std::vector<InputKind>& expected);

/// Throws ConfigError if a run or a sweep cannot be written into `directory`: a file, a directory
/// of another kind, or one that is not yet of this kind but has one of the files that would be
/// written.
void require_place(const std::filesystem::path& directory, InputKind kind,
                   const std::vector<std::filesystem::path>& files);

}  // namespace attn
