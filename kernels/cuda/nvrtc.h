// NVRTC, NVIDIA's compiler as a library, without its headers: LibTorch's wheels with CUDA bring the
// library along.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "kernels/cuda/library.h"
#include "kernels/cuda/sources.h"

namespace attn::cuda {

/// Beside the architecture.
inline constexpr std::array kNvrtcOptions = {"-std=c++17", "--ptxas-options=-v"};

struct Compiled {
  std::string cubin;
  std::string log;  ///< registers and spills of each function, as ptxas reports them
};

class Nvrtc {
 public:
  /// The library beside LibTorch or in the loader's path; the environment variable ATTN_NVRTC
  /// names another. Throws CudaError if there is none.
  static Nvrtc find();
  explicit Nvrtc(const std::string& path);

  std::pair<int, int> version() const { return version_; }
  /// Compiles a source for an architecture such as "sm_90". Throws CudaError with the first line of
  /// the compiler's log.
  Compiled compile(const SourceText& source, const std::string& architecture) const;

 private:
  using Program = void*;
  void check(int result, const char* what) const;

  Library library_;
  std::pair<int, int> version_;
  int (*get_version_)(int*, int*);
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy_)(Program*);
  int (*compile_)(Program, int, const char* const*);
  int (*cubin_size_)(Program, size_t*);
  int (*cubin_)(Program, char*);
  int (*log_size_)(Program, size_t*);
  int (*log_)(Program, char*);
  const char* (*error_string_)(int);
};

}  // namespace attn::cuda
