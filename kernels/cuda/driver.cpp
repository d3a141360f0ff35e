#include "kernels/cuda/driver.h"

#include <string_view>
#include <vector>

#include "kernels/cuda/cubins.h"

namespace attn::cuda {
namespace {

constexpr int kMajorAttribute = 75, kMinorAttribute = 76;  // of the compute capability
constexpr int kNotFound = 500;                             // CUDA_ERROR_NOT_FOUND

// The functions of a cubin, an ELF file in whose table of names the code of NAME is ".text.NAME".
std::vector<std::string> functions_of(std::string_view cubin) {
  constexpr std::string_view kSection = ".text.";
  std::vector<std::string> names;
  for (size_t at = cubin.find(kSection); at != cubin.npos; at = cubin.find(kSection, at + 1)) {
    const size_t begin = at + kSection.size(), end = cubin.find('\0', begin);
    if (end != cubin.npos && end > begin) names.emplace_back(cubin.substr(begin, end - begin));
  }
  return names;
}

}  // namespace

Driver::Driver(const std::string& library) : library_(library) {
  library_.find(init_, "cuInit");
  library_.find(device_get_, "cuDeviceGet");
  library_.find(attribute_, "cuDeviceGetAttribute");
  library_.find(retain_, "cuDevicePrimaryCtxRetain");
  library_.find(current_, "cuCtxGetCurrent");
  library_.find(set_current_, "cuCtxSetCurrent");
  library_.find(load_data_, "cuModuleLoadData");
  library_.find(get_function_, "cuModuleGetFunction");
  library_.find(launch_, "cuLaunchKernel");
  library_.find(error_name_, "cuGetErrorName");
  check(init_(0), "cuInit");
}

void Driver::check(int result, const std::string& what) const {
  if (result == 0) return;
  const char* name = nullptr;
  error_name_(result, &name);
  throw CudaError(what + ": " + (name != nullptr ? name : std::to_string(result)));
}

std::string Driver::architecture(int device) const {
  int handle = 0, major = 0, minor = 0;
  check(device_get_(&handle, device), "cuDeviceGet");
  check(attribute_(&major, kMajorAttribute, handle), "cuDeviceGetAttribute");
  check(attribute_(&minor, kMinorAttribute, handle), "cuDeviceGetAttribute");
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

void Driver::enter(int device) const {
  void* context = nullptr;
  check(current_(&context), "cuCtxGetCurrent");
  if (context != nullptr) return;
  int handle = 0;
  check(device_get_(&handle, device), "cuDeviceGet");
  check(retain_(&context, handle), "cuDevicePrimaryCtxRetain");
  check(set_current_(context), "cuCtxSetCurrent");
}

void* Driver::load(const std::string& cubin) const {
  void* module = nullptr;
  check(load_data_(&module, cubin.data()), "cuModuleLoadData");
  return module;
}

Driver::Function Driver::function(void* module, const std::string& name) const {
  Function found = nullptr;
  const int result = get_function_(&found, module, name.c_str());
  if (result == kNotFound) return nullptr;
  check(result, name);
  return found;
}

void Driver::launch(Function function, const Launch& launch, void* stream) const {
  void* arguments[] = {launch.argument};
  check(launch_(function, static_cast<unsigned>(launch.blocks), 1, 1,
                static_cast<unsigned>(launch.threads), 1, 1, /*shared memory*/ 0, stream, arguments,
                nullptr),
        launch.function);
}

GpuLauncher::GpuLauncher(const Driver& driver, const Nvrtc& nvrtc, int device,
                         const std::filesystem::path& cubin_folder)
    : driver_(driver), device_(device) {
  driver.enter(device);
  const std::string architecture = driver.architecture(device);
  for (const SourceText& source : sources()) {
    if (source.is_header()) continue;
    const std::string cubin = cubin_of(nvrtc, source, architecture, cubin_folder);
    void* module = driver.load(cubin);
    for (const std::string& name : functions_of(cubin)) {
      const auto kernel = driver.function(module, name);
      if (kernel != nullptr) functions_.emplace(name, kernel);
    }
  }
}

void GpuLauncher::launch(const Launch& launch, void* stream) const {
  const auto found = functions_.find(launch.function);
  if (found == functions_.end()) throw CudaError("no kernel " + launch.function);
  driver_.enter(device_);
  driver_.launch(found->second, launch, stream);
}

}  // namespace attn::cuda
