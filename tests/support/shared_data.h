// Public data sets that some machines have. Tests that need them are skipped if they are missing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/skip.h"
#include "tests/support/source_dir.h"

namespace attn::testing {

/// The folder `name` of the shared data: below $ATTN_SHARED_DATA, else beside the source tree. If
/// it is absent, the test is skipped.
inline std::optional<std::filesystem::path> shared_data(const std::string& name) {
  const char* set = std::getenv("ATTN_SHARED_DATA");
  const std::filesystem::path root =
      set != nullptr ? std::filesystem::path(set)
                     : std::filesystem::path(testing::kSourceDir) / ".." / "shared" / "data";
  if (std::filesystem::is_directory(root / name)) return root / name;
  skip("no " + name + " in ../shared/data (or the folder that ATTN_SHARED_DATA names)");
  return {};
}

}  // namespace attn::testing
