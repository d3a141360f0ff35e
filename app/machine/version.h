// Version of the program.
#pragma once

#include <string>

namespace attn {

/// The program's version, its commit (plus "+changes" for uncommitted changes) and the version of
/// LibTorch.
struct Version {
  const char* attn;
  const char* commit;
  const char* libtorch;
};
const Version& version();

/// "attn 0.1.0 (commit), LibTorch 2.13.0".
std::string version_line();

}  // namespace attn
