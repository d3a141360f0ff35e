// What a path on the command line is, to answer one given to the wrong command.
#pragma once

#include <filesystem>

#include "base/json_patch.h"

namespace attn {

/// The resolved plan in a sweep's directory.
inline constexpr const char* kSweepFile = "sweep.json";

/// Whether JSON is that of a sweep, or of a single experiment.
bool is_sweep_file(const Json& json);
bool is_config_file(const Json& json);

/// Throws ConfigError for a directory where a config is expected, with the config that it has.
void require_config_path(const std::filesystem::path& path);

/// Throws ConfigError for a sweep's file or its directory's plan where a config is expected.
void require_config(const Json& json, const std::filesystem::path& path);

/// Throws ConfigError for a directory where a sweep's file is expected, with what to run instead.
void require_sweep_path(const std::filesystem::path& path);

/// Throws ConfigError for a config where a sweep's file is expected.
void require_sweep(const Json& json, const std::filesystem::path& path);

/// Whether a path is the directory of a run, and not of a sweep or a checkpoint.
bool is_run(const std::filesystem::path& path);

/// Throws ConfigError for a config, a sweep's file or a checkpoint where `attn report` expects the
/// directory of a sweep or a run.
void require_report_path(const std::filesystem::path& path);

/// Throws ConfigError for a config, a sweep's file or a sweep's directory where a run is expected.
void require_no_config(const std::filesystem::path& path);

}  // namespace attn
