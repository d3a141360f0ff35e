// Recognizes paths that were given to the wrong command, and says which command takes them.
#pragma once

#include <filesystem>

#include "base/json_patch.h"

namespace attn {

/// File name of the resolved plan in a sweep directory.
inline constexpr const char* kSweepFile = "sweep.json";

/// Whether the JSON is a sweep, or the config of an experiment.
bool is_sweep_file(const Json& json);
bool is_config_file(const Json& json);

/// Throws ConfigError if `path`, expected to be a config, is a directory. Names the config inside.
void require_config_path(const std::filesystem::path& path);

/// Throws ConfigError if `json`, expected to be a config, is a sweep file or sweep.json.
void require_config(const Json& json, const std::filesystem::path& path);

/// Throws ConfigError if `path`, expected to be a sweep file, is a directory. Says what to run
/// instead.
void require_sweep_path(const std::filesystem::path& path);

/// Throws ConfigError if `json`, expected to be a sweep file, is a config.
void require_sweep(const Json& json, const std::filesystem::path& path);

/// Whether a path is a run directory (not a sweep directory or a checkpoint).
bool is_run(const std::filesystem::path& path);

/// Throws ConfigError if `path`, expected to be a sweep or run directory, is a config, a sweep file
/// or a checkpoint.
void require_report_path(const std::filesystem::path& path);

/// Throws ConfigError if `path`, where a run is to be trained, is a sweep directory or a
/// file.
void require_no_sweep(const std::filesystem::path& path);

/// Throws ConfigError if `path`, where a sweep is to be trained, is a run or a file.
void require_no_run(const std::filesystem::path& path);

/// Throws ConfigError if `path`, where the sweep file `source` is to be trained, contains runs of
/// another sweep file that still exists.
void require_no_other_sweep(const std::filesystem::path& path, const std::filesystem::path& source);

/// Throws ConfigError if `path`, expected to be a run, is a config, a sweep file, a sweep directory
/// or the directory of a row. Names a run inside.
void require_no_config(const std::filesystem::path& path);

}  // namespace attn
