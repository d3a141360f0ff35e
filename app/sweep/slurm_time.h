// Time limits of Slurm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attn {

/// Seconds of a time limit of Slurm: "M", "M:S", "H:M:S", "D-H", "D-H:M" or "D-H:M:S", or
/// "UNLIMITED" for none (std::nullopt), as "". Throws ConfigError for other texts.
std::optional<int64_t> slurm_seconds(const std::string& time);

}  // namespace attn
