// A stand-in for CUDA's driver and NVRTC without a GPU: the functions that kernels/cuda looks up,
// in one library. It "compiles" to the names of the emulated kernels and launches those.
#include <atomic>
#include <cstring>
#include <string>

#include "tests/support/emulated_kernels.h"

namespace {

constexpr int kSuccess = 0, kInvalid = 1, kNotFound = 500;
std::atomic<int> compilations = 0;
uint64_t launches = 0;

std::string cubin() {
  std::string names = "stub";
  for (const char* const* name = attn_emulated_functions(); *name != nullptr; ++name) {
    names += std::string(".text.") + *name + '\0';
  }
  return names;
}

}  // namespace

extern "C" {

/// How often it has compiled.
int cuda_stub_compilations() {
  return compilations;
}

int cuInit(unsigned) {
  return kSuccess;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? kSuccess : kInvalid;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &compilations;
  return kSuccess;
}
static thread_local void* current = nullptr;
int cuCtxGetCurrent(void** context) {
  *context = current;
  return kSuccess;
}
int cuCtxSetCurrent(void* context) {
  current = context;
  return kSuccess;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = current;
  return current != nullptr && std::memcmp(image, "stub", 4) == 0 ? kSuccess : kInvalid;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  for (const char* const* other = attn_emulated_functions(); *other != nullptr; ++other) {
    if (std::strcmp(*other, name) != 0) continue;
    *function = const_cast<char*>(*other);
    return kSuccess;
  }
  return kNotFound;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                   unsigned, unsigned, void*, void** arguments, void**) {
  if (current == nullptr) return kInvalid;
  const char* error = attn_emulated_launch(static_cast<const char*>(function), blocks, threads,
                                           arguments[0], ++launches);
  return *error == '\0' ? kSuccess : kInvalid;
}
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_OF_THE_STUB";
  return kSuccess;
}

int nvrtcVersion(int* major, int* minor) {
  *major = 0;
  *minor = 1;
  return kSuccess;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int headers,
                       const char* const*, const char* const*) {
  *program = const_cast<char*>(source);
  return headers > 0 ? kSuccess : kInvalid;
}
int nvrtcDestroyProgram(void**) {
  return kSuccess;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  ++compilations;
  return std::strstr(static_cast<const char*>(program), "#error") == nullptr ? kSuccess : kInvalid;
}
int nvrtcGetCUBINSize(void*, size_t* size) {
  *size = cubin().size();
  return kSuccess;
}
int nvrtcGetCUBIN(void*, char* to) {
  std::memcpy(to, cubin().data(), cubin().size());
  return kSuccess;
}
int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = std::strlen("an error\nmore");
  return kSuccess;
}
int nvrtcGetProgramLog(void*, char* to) {
  std::memcpy(to, "an error\nmore", std::strlen("an error\nmore"));
  return kSuccess;
}
const char* nvrtcGetErrorString(int) {
  return "NVRTC_ERROR_OF_THE_STUB";
}
}
