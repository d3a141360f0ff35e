#pragma once

#include <filesystem>

#include "report/results.h"

namespace attn {

/// Adds to `record` what attn heads wrote; without the file nothing. Throws DataError if the file
/// is not one of attn heads.
void read_heads(const std::filesystem::path& file, RunRecord& record);

}  // namespace attn
