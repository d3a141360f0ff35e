// Compiled kernels, kept for the next start.
#pragma once

#include <filesystem>
#include <string>

#include "kernels/cuda/nvrtc.h"

namespace attn::cuda {

/// attn/kernels in $XDG_CACHE_HOME, or in .cache of the user's home; empty without either: then
/// nothing is kept.
std::filesystem::path cubin_folder();

/// The cubin of a source for an architecture, from the folder or else compiled and kept there. Its
/// name is a hash of the source, the headers, the options, the architecture and NVRTC's version; a
/// file whose size or hash is not what its first line says is compiled again, and a folder that
/// cannot be written to is passed over. Throws CudaError if the source does not compile.
std::string cubin_of(const Nvrtc& nvrtc, const SourceText& source, const std::string& architecture,
                     const std::filesystem::path& folder);

}  // namespace attn::cuda
