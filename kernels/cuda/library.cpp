#include "kernels/cuda/library.h"

#include <dlfcn.h>

namespace attn::cuda {

Library::Library(const std::string& name)
    : name_(name), handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw CudaError("cannot load " + name + ": " + ::dlerror());
}

void* Library::symbol(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) throw CudaError(name_ + " has no " + name);
  return found;
}

}  // namespace attn::cuda
