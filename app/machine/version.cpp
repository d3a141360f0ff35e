#include "app/machine/version.h"

#include "app/commit.h"  // generated at every build

namespace attn {

const Version& version() {
  static constexpr Version version{
      .attn = ATTN_VERSION, .commit = ATTN_COMMIT, .libtorch = ATTN_TORCH_VERSION};
  return version;
}

std::string version_line() {
  const auto& [attn, commit, libtorch] = version();
  return std::string("attn ") + attn + " (" + commit + "), LibTorch " + libtorch;
}

}  // namespace attn
