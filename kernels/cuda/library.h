// Functions of a shared library that is looked up at run time.
#pragma once

#include <stdexcept>
#include <string>

namespace attn::cuda {

/// A failure of CUDA's driver or of NVRTC.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A shared library; never closed, since the driver may call into it at exit.
class Library {
 public:
  /// `name`: a path or a soname. Throws CudaError if it is not found.
  explicit Library(const std::string& name);

  /// Looks up a function. Throws CudaError if the library has none of this name.
  template <class Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  std::string name_;
  void* handle_;
};

}  // namespace attn::cuda
