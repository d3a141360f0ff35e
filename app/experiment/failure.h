// How a run ended. The last line of its log is "failed: …" until the run is resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attn {

/// The last line "attn: …" of a log, without "attn: ", from byte `begin` on, else the last line
/// with more than dashes (launchers print rules); "" if there is none.
std::string last_error(const std::filesystem::path& log, std::uintmax_t begin);

/// "stopped at step 7, checkpoint saved; resume with …".
std::string stop_line(const std::filesystem::path& run, int64_t step);

/// Appends "failed: WHY" to a log. Errors are ignored.
void log_failure(const std::filesystem::path& log, const std::string& why) noexcept;

/// The reason written by log_failure; std::nullopt unless it is the last line of the log.
std::optional<std::string> logged_failure(const std::filesystem::path& log);

/// Why a run failed, from its own log or, for a run of a sweep, from the log beside its directory
/// (seed-1.log), where the sweep records exits such as a kill by the out-of-memory killer.
/// std::nullopt if the run has not failed or was resumed.
std::optional<std::string> failure_of(const std::filesystem::path& run);

}  // namespace attn
