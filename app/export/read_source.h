// Reads what is exported from a checkpoint.
#pragma once

#include <filesystem>

#include "app/export/source.h"

namespace attn {

/// `path` as for find_checkpoint. Throws ConfigError for another architecture, or a parser, whose
/// constrained search no target has; and as load_model.
ExportSource read_export_source(const std::filesystem::path& path);

}  // namespace attn
