// Why a run failed, as its log keeps it: the last line is "failed: …" until the run goes on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attn {

/// The last line of a log that is not empty; "" where there is none.
std::string last_line(const std::filesystem::path& log);

/// Appends "failed: why" to a log. Best effort: never throws.
void note_failure(const std::filesystem::path& log, const std::string& why) noexcept;

/// What note_failure wrote, where nothing was written since.
std::optional<std::string> noted_failure(const std::filesystem::path& log);

/// Why the run in `run` failed, by its own log or, of a sweep's, by the log beside it (run.log),
/// which has what no process can write of itself. Nothing for one that has not, or was resumed.
std::optional<std::string> failure_of(const std::filesystem::path& run);

}  // namespace attn
