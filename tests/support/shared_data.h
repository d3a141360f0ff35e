// Public data sets that some machines have. Tests that need them are skipped if they are missing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

/// The treebanks of the shared corpora, with one tree per line.
inline std::vector<std::filesystem::path> shared_treebanks() {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path name :
       {"craft/train.ptb", "craft/dev.ptb", "masc/letters.ptb", "masc/essays.ptb",
        "wsj-sample/train.ptb", "wsj-sample/dev.ptb", "wsj-sample/dev.raw.ptb",
        "gum/train.silver.ptb", "gum/dev.silver.ptb"}) {
    const auto folder = shared_data(name.parent_path().string());
    if (folder) files.push_back(*folder / name.filename());
  }
  return files;
}

}  // namespace attn::testing
