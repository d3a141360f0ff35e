// CUDA's driver, without its headers: loads compiled kernels and launches them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kernels/cuda/launches.h"
#include "kernels/cuda/library.h"
#include "kernels/cuda/nvrtc.h"

namespace attn::cuda {

/// The functions in use; stable since CUDA 11 (cuda.h is not needed).
class Driver {
 public:
  /// Throws CudaError if the library or a GPU is missing.
  explicit Driver(const std::string& library = "libcuda.so.1");

  using Function = void*;
  /// "sm_90" of a device.
  std::string architecture(int device) const;
  /// Makes the context that LibTorch shares with all of a process this thread's, unless it has one.
  void enter(int device) const;
  /// Loads a cubin into this thread's context, for the life of the process.
  void* load(const std::string& cubin) const;
  /// Null if the module has no kernel of this name, as of a function that one calls.
  Function function(void* module, const std::string& name) const;
  void launch(Function function, const Launch& launch, void* stream) const;

 private:
  void check(int result, const std::string& what) const;

  Library library_;
  int (*init_)(unsigned);
  int (*device_get_)(int*, int);
  int (*attribute_)(int*, int, int);
  int (*retain_)(void**, int);
  int (*current_)(void**);
  int (*set_current_)(void*);
  int (*load_data_)(void**, const void*);
  int (*get_function_)(void**, void*, const char*);
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                 void**, void**);
  int (*error_name_)(int, const char**);
};

/// The kernels of kernels/cuda on a GPU.
class GpuLauncher : public Launcher {
 public:
  /// Compiles or reads all kernels. Throws CudaError.
  GpuLauncher(const Driver& driver, const Nvrtc& nvrtc, int device,
              const std::filesystem::path& cubin_folder);
  void launch(const Launch& launch, void* stream) const override;

 private:
  const Driver& driver_;
  int device_;
  std::map<std::string, Driver::Function> functions_;
};

}  // namespace attn::cuda
