// The sources of the kernels, as they were when the program was built.
#pragma once

#include <span>
#include <string_view>

namespace attn::cuda {

/// A file of kernels/cuda: one to compile (*.cu), or a header.
struct SourceText {
  const char* name;  ///< path from the repository's root
  const char* text;
  bool is_header() const { return std::string_view(name).ends_with(".h"); }
};

/// Defined in a source that the build generates (cmake/EmbedSources.cmake).
std::span<const SourceText> sources();

}  // namespace attn::cuda
