#pragma once

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/json_config.h"
#include "tests/support/source_dir.h"

namespace attn::testing {

/// A file of expected values, `file` within tests/.
inline Json golden_json(const std::string& file) {
  const auto path = std::filesystem::path(kSourceDir) / "tests" / file;
  return parse_json(read_file(path), path.string());
}

}  // namespace attn::testing
