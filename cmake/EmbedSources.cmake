# Writes the sources of the GPU's kernels as C++ (kernels/cuda/sources.h).
#   cmake -D ROOT=… -D OUTPUT=cuda_sources.cpp -D FILES="a.cu;b.h" -P EmbedSources.cmake
cmake_minimum_required(VERSION 3.25)
set(entries "")
foreach(file ${FILES})
  file(READ "${ROOT}/${file}" text)
  string(APPEND entries "      {\"${file}\", R\"CUDA(${text})CUDA\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Written by cmake/EmbedSources.cmake.
#include \"kernels/cuda/sources.h\"

namespace attn::cuda {

std::span<const SourceText> sources() {
  static constexpr SourceText all[] = {
${entries}  };
  return all;
}

}  // namespace attn::cuda
")
