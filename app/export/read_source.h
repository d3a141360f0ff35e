// Reads what is exported from a checkpoint.
#pragma once

#include <filesystem>

#include "app/export/source.h"

namespace attn {

/// `path` as for find_checkpoint. Throws ConfigError for other architectures and for parsers, whose
/// constrained search no target has, and like load_model().
ExportSource read_export_source(const std::filesystem::path& path);

}  // namespace attn
