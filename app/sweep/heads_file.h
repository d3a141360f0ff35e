// Statistics of heads in a sweep's report.
#pragma once

#include <filesystem>

#include "report/results.h"

namespace attn {

/// Adds the output of `attn heads --json` to `record`; does nothing if the file does not exist.
/// Throws DataError if it is not such a file.
void read_heads(const std::filesystem::path& file, RunRecord& record);

}  // namespace attn
