// Why a run failed: the last line of its log is "failed: …" until the run is resumed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attn {

/// The last non-empty line of a log; "" if there is none.
std::string last_line(const std::filesystem::path& log);

/// Appends "failed: WHY" to a log. Errors are ignored.
void log_failure(const std::filesystem::path& log, const std::string& why) noexcept;

/// The reason written by log_failure; std::nullopt unless it is the last line of the log.
std::optional<std::string> logged_failure(const std::filesystem::path& log);

/// Why a run failed, from its own log or, for a run of a sweep, from the log beside its directory
/// (seed-1.log), where the sweep records exits such as a kill by the out-of-memory killer.
/// std::nullopt if the run has not failed or was resumed.
std::optional<std::string> failure_of(const std::filesystem::path& run);

}  // namespace attn
